// The legacy layout: five pickles, then the storages, to the last byte.
#include <gmock/gmock.h>

#include "checkpoint/pytorch/archive/legacy_magic.hpp"
#include "tests/unit/checkpoint/pytorch/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

using ::testing::HasSubstr;

struct Parts {
  std::string magic = std::string(legacy_magic);
  std::string protocol = pickle("M\xe9\x03");
  std::string system = pickle("}" + text("little_endian") + "\x88s");
  std::string object = pickle(tensor({}, Layout::legacy));
  std::string keys = pickle("]" + text("0") + "a");
  std::string data = little(4, 8) + std::string(16, 'x');

  [[nodiscard]] std::string file() const {
    return magic + protocol + system + object + keys + data;
  }
};

std::string refused(const Parts& parts) {
  const std::string bytes = parts.file();
  auto opened = open_archive(memory(bytes));
  EXPECT_FALSE(opened) << "a file that must be refused was opened";
  if (opened) return {};
  EXPECT_EQ(opened.error().kind, ErrorKind::corrupt);
  return opened.error().message();
}

TEST(Legacy, ReadsOne) {
  const Parts parts;
  const std::string bytes = parts.file();
  auto opened = open_archive(memory(bytes));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->places[0].begin, bytes.size() - 16);
  EXPECT_EQ(opened->places[0].bytes, 16U);
}

TEST(Legacy, ReadsWhatItWrites) {
  const std::string file = sample(Layout::legacy);
  auto opened = open_archive(memory(file));
  ASSERT_TRUE(opened) << opened.error().message();
  ASSERT_EQ(opened->places.size(), 2U);
  EXPECT_EQ(file.substr(opened->places[0].begin, 24), std::string(24, '\x3f'));
}

TEST(Legacy, EveryPartMustFit) {
  EXPECT_THAT(refused({.protocol = pickle("M\xe8\x03")}), HasSubstr("protocol is not 1001"));
  EXPECT_THAT(refused({.system = pickle("}" + text("little_endian") + "\x89s")}),
              HasSubstr("big-endian"));
  EXPECT_THAT(refused({.system = pickle("}")}), HasSubstr("byte order"));
  EXPECT_THAT(refused({.keys = pickle("]")}), HasSubstr("lacks '0'"));
  EXPECT_THAT(refused({.keys = pickle("]" + text("1") + "a")}), HasSubstr("nothing uses"));
  EXPECT_THAT(refused({.keys = pickle("](" + text("0") + text("0") + "e")}), HasSubstr("twice"));
  EXPECT_THAT(refused({.keys = pickle("N")}), HasSubstr("not a list"));
  EXPECT_THAT(refused({.data = little(3, 8) + std::string(12, 'x')}), HasSubstr("3 elements here"));
  EXPECT_THAT(refused({.data = little(UINT64_MAX, 8) + std::string(16, 'x')}),
              HasSubstr("18446744073709551615 elements here"));
  EXPECT_THAT(refused({.data = little(4, 8) + std::string(15, 'x')}),
              HasSubstr("ends inside storage"));
  EXPECT_THAT(refused({.data = little(4, 8) + std::string(17, 'x')}), HasSubstr("1 bytes behind"));
  EXPECT_THAT(refused({.object = pickle("(" + text("module") + "NNNtQ")}), HasSubstr("nn.Module"));
  EXPECT_THAT(refused({.object = pickle(name("os", "system"))}), HasSubstr("os.system"));
}

TEST(Legacy, ViewsOfAStorageAreFollowed) {
  const auto with_view = [](const std::string& view) {
    return pickle(name("torch._utils", "_rebuild_tensor") + "((" + text("storage") +
                  name("torch", "FloatStorage") + text("0") + text("cpu") + "K\x04" + view +
                  "tQK\x01K\x01\x85K\x01\x85tR");
  };
  Parts parts{.object = with_view("(" + text("v") + "K\x02K\x02t")};
  const std::string bytes = parts.file();
  auto opened = open_archive(memory(bytes));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->tree.tensors[0].begin, 12U);
  EXPECT_THAT(refused({.object = with_view("(" + text("v") + "K\x03K\x02t")}),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(refused({.object = with_view("(" + text("v") + "K\x02K\x01t")}),
              HasSubstr("needs bytes 4 to 8"));
}

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
