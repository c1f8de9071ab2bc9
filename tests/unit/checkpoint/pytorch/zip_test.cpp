// The zip reader: what torch.save writes, and the tricks by which two programs read one zip file
// differently.
#include <gmock/gmock.h>

#include "checkpoint/pytorch/archive/zip_directory.hpp"
#include "tests/unit/checkpoint/pytorch/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

using ::testing::HasSubstr;

std::string refused(const std::string& bytes) {
  auto opened = open_archive(memory(bytes));
  EXPECT_FALSE(opened) << "a file that must be refused was opened";
  if (opened) return {};
  EXPECT_EQ(opened.error().kind, ErrorKind::corrupt);
  return opened.error().message();
}

const std::string body = pickle("}" + text("w") + tensor({}) + "s");

std::vector<RawEntry> good() {
  return {{.name = "m/data.pkl", .data = body},
          {.name = "m/data/0", .data = std::string(16, 'x')},
          {.name = "m/version", .data = "3\n"}};
}

TEST(Zip, ReadsWhatItWrites) {
  const std::string file = sample(Layout::zip);
  auto opened = open_archive(memory(file));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->layout, Layout::zip);
  ASSERT_EQ(opened->places.size(), 2U);
  EXPECT_EQ(opened->places[0].bytes, 24U);
  for (const Place& place : opened->places) EXPECT_EQ(place.begin % 64, 0U);
  EXPECT_EQ(file.substr(opened->places[0].begin, 24), std::string(24, '\x3f'));
}

TEST(Zip, ReadsAPlainOne) {
  const std::string file = raw_zip(good());
  auto opened = open_archive(memory(file));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_FALSE(opened->places[0].crc);
}

TEST(Zip, AChangedHeaderIsRefused) {
  const auto with = [](auto&& change) {
    std::vector<RawEntry> entries = good();
    change(entries);
    return refused(raw_zip(entries));
  };
  EXPECT_THAT(with([](auto& e) { e[1].flags = 1; }), HasSubstr("encrypted"));
  EXPECT_THAT(with([](auto& e) { e[1].flags = 0x40; }), HasSubstr("encrypted"));
  EXPECT_THAT(with([](auto& e) { e[1].flags = 0x2000; }), HasSubstr("encrypted"));
  EXPECT_THAT(with([](auto& e) { e[1].flags = 0x20; }), HasSubstr("flags 0x0020"));
  EXPECT_THAT(with([](auto& e) { e[1].flags = 8; }), HasSubstr("belong to no entry"));
  EXPECT_THAT(with([](auto& e) { e[1].method = 8; }), HasSubstr("compressed (method 8"));
  EXPECT_THAT(with([](auto& e) { e[1].claimed_size = 40'000'000'000 % 0xffffffff; }),
              HasSubstr("is compressed"));
  EXPECT_THAT(with([](auto& e) { e[1].local_name = "m/data/1"; }), HasSubstr("disagree"));
  EXPECT_THAT(with([](auto& e) { e[1].local_size = 15; }), HasSubstr("disagree"));
  EXPECT_THAT(with([](auto& e) { e[1].header_at = 0; }), HasSubstr("disagree"));
  EXPECT_THAT(with([](auto& e) { e[1].header_at = 1; }), HasSubstr("no header"));
  EXPECT_THAT(with([](auto& e) { e[1].header_at = 100'000; }), HasSubstr("behind the data"));
  EXPECT_THAT(with([](auto& e) { e[1].header_at = 0xffffffff; }), HasSubstr("zip64"));
  EXPECT_THAT(with([](auto& e) { e[0].crc = 1; }), HasSubstr("CRC-32"));
  EXPECT_THAT(with([](auto& e) { e[1].data += "yyyy"; }), HasSubstr("has 20 bytes"));
  EXPECT_THAT(with([](auto& e) { e.erase(e.begin() + 1); }), HasSubstr("'data/0' is missing"));
}

TEST(Zip, OddNamesAreRefused) {
  for (const std::string name :
       {"/m/x", "m/../x", "m//x", "m/x/", "m\\x", "m/\x01", "C:x", "./m", "..", "m/."}) {
    std::vector<RawEntry> entries = good();
    entries.push_back({.name = name, .data = "1"});
    EXPECT_THAT(refused(raw_zip(entries)), HasSubstr("name of an entry")) << name;
  }
  std::vector<RawEntry> entries = good();
  entries.push_back(entries[1]);
  EXPECT_THAT(refused(raw_zip(entries)), HasSubstr("comes twice"));
  entries.back().name = "other/data.pkl";
  EXPECT_THAT(refused(raw_zip(entries)), HasSubstr("not in the folder"));
}

TEST(Zip, BytesThatBelongToNoEntryAreRefused) {
  EXPECT_THAT(refused(raw_zip(good(), "hidden")), HasSubstr("belong to no entry"));
  EXPECT_THAT(refused(raw_zip(good(), "", "a comment")), HasSubstr("no central directory"));
  EXPECT_THAT(refused(raw_zip(good()) + "tail"), HasSubstr("no central directory"));
  EXPECT_THAT(refused("prefix" + raw_zip(good())), HasSubstr("is not a torch.save file"));
  // One file that is two: a second archive in front, whose directory nobody looks for.
  EXPECT_NE(refused(raw_zip(good()) + raw_zip(good())), "");
  std::string polyglot = raw_zip(good());
  EXPECT_NE(refused(polyglot.insert(0, "PK\x03\x04")), "");
}

TEST(Zip, OverlapsAreRefused) {
  // The quoted overlap of zip bombs: an entry whose data are the headers of the next.
  std::vector<RawEntry> entries = good();
  entries[1].claimed_size = 16;
  std::string bytes = raw_zip(entries);
  const std::size_t directory = bytes.rfind("PK\x01\x02", bytes.rfind("m/data/0"));
  const std::size_t second = bytes.find("PK\x03\x04", 4);
  for (const std::size_t at : {second + 18, second + 22, directory + 20, directory + 24}) {
    bytes[at] = 40;
  }
  EXPECT_THAT(refused(bytes), HasSubstr("overlaps"));
}

TEST(Zip, TheEndRecordMustAgree) {
  const std::string bytes = raw_zip(good());
  for (std::size_t back = 1; back <= 22; ++back) {
    std::string changed = bytes;
    changed[changed.size() - back] ^= 1;
    EXPECT_NE(refused(changed), "") << back;
  }
}

TEST(Zip, ProgramsAndForeignByteOrderAreRefused) {
  const auto with = [](const std::string& name, const std::string& data) {
    std::vector<RawEntry> entries = good();
    entries.push_back({.name = name, .data = data});
    return refused(raw_zip(entries));
  };
  EXPECT_THAT(with("m/constants.pkl", "x"), HasSubstr("TorchScript"));
  EXPECT_THAT(with("m/model.json", "x"), HasSubstr("TorchScript"));
  EXPECT_THAT(with("m/byteorder", "big"), HasSubstr("big-endian"));
  EXPECT_THAT(with("m/.data/version", "11\n"), HasSubstr("version"));
  EXPECT_THAT(with("m/.data/version", "1"), HasSubstr("version"));
  std::vector<RawEntry> entries = good();
  entries[0].data += "N.";
  EXPECT_THAT(refused(raw_zip(entries)), HasSubstr("continues after"));
  entries = good();
  entries[0].name = "m/other.pkl";
  EXPECT_THAT(refused(raw_zip(entries)), HasSubstr("without data.pkl"));
}

TEST(Zip, LargeEntriesAreDescribedIn64Bits) {
  // A zip64 field in an entry that does not need it is understood too.
  std::vector<RawEntry> entries = good();
  entries[1].extra = little(0x4246, 2) + little(3, 2) + "ZZZ";
  EXPECT_TRUE(open_archive(memory(raw_zip(entries))));
}

TEST(Archive, OtherFilesAreNamed) {
  std::string tar(600, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_THAT(refused(tar), HasSubstr("tar layout"));
  EXPECT_THAT(refused("\x80\x02N."s), HasSubstr("bare pickle"));
  EXPECT_THAT(refused("\x80\x04\x95"s), HasSubstr("bare pickle"));
  EXPECT_THAT(refused("hello"), HasSubstr("not a torch.save file"));
  EXPECT_THAT(refused(""), HasSubstr("not a torch.save file"));
  EXPECT_THAT(refused("PK\x03\x04"s), HasSubstr("cut short"));
}

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
