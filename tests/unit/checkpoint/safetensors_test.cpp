#include "checkpoint/format/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "checkpoint/disk/safetensors_file.hpp"
#include "common/os/fd.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

using ::testing::HasSubstr;
using testing::Sample;

Result<Layout> plan(const std::vector<TensorView>& tensors,
                    const std::map<std::string, std::string>& metadata = {}) {
  std::vector<TensorInfo> infos;
  for (const TensorView& tensor : tensors) infos.push_back(tensor.info);
  return plan_safetensors(infos, metadata, "here");
}

std::string file_of(const Layout& layout, const std::vector<TensorView>& tensors) {
  std::string bytes = layout.prefix;
  for (const std::size_t i : layout.order) {
    bytes.append(reinterpret_cast<const char*>(tensors[i].bytes.data()), tensors[i].bytes.size());
  }
  return bytes;
}

std::string file_of(std::string_view header, std::string_view data) {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(header).append(data);
}

Result<Header> read(std::string_view bytes) {
  Fd fd(::memfd_create("safetensors", MFD_CLOEXEC));
  EXPECT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return read_safetensors_header(fd.get(), bytes.size(), "here");
}

std::string refusal_of(std::string_view bytes) {
  auto header = read(bytes);
  if (header) return "accepted";
  EXPECT_EQ(header.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(header.error().where, "here");
  EXPECT_FALSE(header.error().hint.empty());
  return header.error().what;
}

std::string tensor(std::string_view shape, std::string_view offsets, std::string_view name = "a") {
  return fmt::format(R"("{}":{{"dtype":"I32","shape":[{}],"data_offsets":[{}]}})", name, shape,
                     offsets);
}

TEST(Safetensors, GoesRoundAndDataStartsOnAPage) {
  Sample sample(3);
  sample.add_model("none", DType::f64, {4, 0, 2});
  sample.add_model("flags", DType::boolean, {3});
  auto layout = plan(sample.contents().model, {{"step", "3"}});
  ASSERT_TRUE(layout) << layout.error().message();
  const std::string bytes = file_of(*layout, sample.contents().model);
  EXPECT_EQ(bytes.size(), layout->file_bytes);
  auto header = read(bytes);
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(header->data_offset % data_alignment, 0U);
  EXPECT_EQ(header->metadata.at("step"), "3");
  ASSERT_EQ(header->slots.size(), sample.contents().model.size());
  for (const Slot& slot : header->slots) {
    EXPECT_EQ(slot.begin % (bits_of(slot.info.dtype) / 8), 0U) << slot.info.name;
    const auto original = std::find_if(
        sample.contents().model.begin(), sample.contents().model.end(),
        [&](const TensorView& candidate) { return candidate.info.name == slot.info.name; });
    ASSERT_NE(original, sample.contents().model.end());
    EXPECT_EQ(slot.info.dtype, original->info.dtype);
    EXPECT_EQ(slot.info.shape, original->info.shape);
    ASSERT_EQ(slot.end - slot.begin, original->bytes.size());
    if (original->bytes.empty()) continue;
    EXPECT_EQ(std::memcmp(bytes.data() + header->data_offset + slot.begin, original->bytes.data(),
                          original->bytes.size()),
              0);
  }
}

TEST(Safetensors, NoTensorsAtAllIsAFile) {
  auto layout = plan({});
  ASSERT_TRUE(layout);
  auto header = read(file_of(*layout, {}));
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_TRUE(header->slots.empty());
}

TEST(Safetensors, TensorsThatCannotBeReadBackAreNotWritten) {
  const auto problem = [](const std::function<void(TensorView&)>& change) {
    Sample sample(1);
    change(sample.contents().model[0]);
    auto layout = plan(sample.contents().model);
    EXPECT_FALSE(layout);
    if (layout) return std::string();
    EXPECT_EQ(layout.error().kind, ErrorKind::usage);
    return layout.error().what;
  };
  EXPECT_THAT(problem([](TensorView& t) { t.info.name = "scale"; }), HasSubstr("given twice"));
  EXPECT_THAT(problem([](TensorView& t) { t.info.name = ""; }), HasSubstr("name is empty"));
  EXPECT_THAT(problem([](TensorView& t) { t.info.name = "\xff"; }), HasSubstr("not valid JSON"));
  EXPECT_THAT(problem([](TensorView& t) { t.info.name = "a\nb"; }), HasSubstr("control"));
  EXPECT_THAT(problem([](TensorView& t) { t.info.name = "__metadata__"; }), HasSubstr("twice"));
  EXPECT_THAT(problem([](TensorView& t) { t.info.shape = {-17, -8}; }), HasSubstr("2^61"));
  EXPECT_THAT(problem([](TensorView& t) { t.info.shape = {INT64_MAX, 2}; }), HasSubstr("2^61"));
}

TEST(Safetensors, LengthFieldIsNotTrusted) {
  EXPECT_THAT(refusal_of(""), HasSubstr("too short"));
  EXPECT_THAT(refusal_of(std::string(7, '\0')), HasSubstr("too short"));
  // Only the length field, and one that would wrap around when 8 is added.
  EXPECT_THAT(refusal_of(std::string("\x3c\0\0\0\0\0\0\0", 8)), HasSubstr("only 0 behind"));
  EXPECT_THAT(refusal_of(std::string("\x3c\0\0\0\0\xff\xff\xff", 8)), HasSubstr("more than the"));
  EXPECT_THAT(refusal_of(std::string(8, '\xff')), HasSubstr("more than the"));
  // One more than there is.
  std::string bytes = file_of("{}", "");
  bytes[0] = 3;
  EXPECT_THAT(refusal_of(bytes), HasSubstr("only 2 behind"));
  EXPECT_THAT(refusal_of(file_of("", "")), HasSubstr("'{'"));
}

TEST(Safetensors, HeadersOverTheCapAreNotRead) {
  Fd fd(::memfd_create("safetensors", MFD_CLOEXEC));
  const std::uint64_t length = max_header_bytes + 1;
  ASSERT_EQ(::write(fd.get(), &length, sizeof length), 8);
  ASSERT_EQ(::ftruncate(fd.get(), 100'000'000), 0);
  auto header = read_safetensors_header(fd.get(), 100'000'000, "here");
  ASSERT_FALSE(header);
  EXPECT_THAT(header.error().what, HasSubstr("25000001"));
}

TEST(Safetensors, HeaderMustBeStrictJson) {
  EXPECT_THAT(refusal_of(file_of("{", "")), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal_of(file_of("\xff", "")), HasSubstr("'{'"));
  EXPECT_THAT(refusal_of(file_of(" {}", "")), HasSubstr("'{'"));
  EXPECT_THAT(refusal_of(file_of("[]", "")), HasSubstr("'{'"));
  EXPECT_THAT(refusal_of(file_of("{}{}", "")), HasSubstr("extra characters"));
  EXPECT_THAT(refusal_of(file_of("{\"\xc3\x28\":1}", "")), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal_of(file_of("{\"a\":" + std::string(50'000, '['), "")),
              HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal_of(file_of("{" + tensor("1", "0,4") + "," + tensor("1", "4,8") + "}",
                                 std::string(8, 'x'))),
              HasSubstr("key 'a' twice"));
  EXPECT_THAT(refusal_of(file_of(R"({"__metadata__":{},"__metadata__":{}})", "")),
              HasSubstr("key '__metadata__' twice"));
  EXPECT_THAT(refusal_of(file_of(R"({"__metadata__":{"a":1}})", "")), HasSubstr("not text"));
  EXPECT_THAT(refusal_of(file_of(R"({"__metadata__":[]})", "")), HasSubstr("not an object"));
  EXPECT_EQ(refusal_of(file_of(R"({"__metadata__":null})", "")), "accepted");
  EXPECT_THAT(refusal_of(file_of("{" + tensor("1", "0,4", "\\u0000") + "}", "abcd")),
              HasSubstr("control"));
  EXPECT_THAT(refusal_of(file_of("{\"a\":5}", "")), HasSubstr("not an object"));
}

TEST(Safetensors, EntriesMustBeWhole) {
  const auto entry = [](std::string_view body) {
    return refusal_of(file_of(fmt::format("{{\"a\":{{{}}}}}", body), "abcd"));
  };
  EXPECT_THAT(entry(R"("shape":[1],"data_offsets":[0,4])"), HasSubstr("dtype"));
  EXPECT_THAT(entry(R"("dtype":"F5","shape":[8],"data_offsets":[0,4])"), HasSubstr("'F5'"));
  EXPECT_THAT(entry(R"("dtype":7,"shape":[1],"data_offsets":[0,4])"), HasSubstr("dtype"));
  EXPECT_THAT(entry(R"("dtype":"I32","data_offsets":[0,4])"), HasSubstr("shape"));
  EXPECT_THAT(entry(R"("dtype":"I32","shape":1,"data_offsets":[0,4])"), HasSubstr("shape"));
  EXPECT_THAT(entry(R"("dtype":"I32","shape":[1])"), HasSubstr("not a pair"));
  EXPECT_THAT(entry(R"("dtype":"I32","shape":[1],"data_offsets":[0,4,4])"),
              HasSubstr("not a pair"));
  for (const char* offsets :
       {"-0,4", "0,-4", "0,4.0", "0,4e0", "\"0\",4", "null,4", "4,0", "0,99999999999999999999"}) {
    EXPECT_THAT(refusal_of(file_of("{" + tensor("1", offsets) + "}", "abcd")),
                HasSubstr("tensor 'a'"))
        << offsets;
  }
  for (const char* shape : {"-1", "1.0", "1e0", "\"1\"", "null", "9223372036854775808"}) {
    EXPECT_THAT(refusal_of(file_of("{" + tensor(shape, "0,4") + "}", "abcd")),
                HasSubstr("dimension"))
        << shape;
  }
}

TEST(Safetensors, ShapesMustFillTheirBytesWithoutOverflow) {
  for (const char* shape : {"2", "0", "2,18446744073709551614", "2,9223372036854775807",
                            "4294967296,4294967296", "1073741825,4", "3,3"}) {
    EXPECT_THAT(refusal_of(file_of("{" + tensor(shape, "0,4") + "}", "abcd")),
                HasSubstr("tensor 'a'"))
        << shape;
  }
  // 16 bytes of elements in a range of 4.
  EXPECT_THAT(refusal_of(file_of("{" + tensor("2,2", "0,4") + "}", std::string(16, 'x'))),
              HasSubstr("need 16 bytes"));
  EXPECT_TRUE(read(file_of("{" + tensor("", "0,4") + "}", "abcd")));
  EXPECT_TRUE(read(file_of("{" + tensor("0,9223372036854775807", "0,0") + "}", "")));
}

TEST(Safetensors, TensorsMustCoverTheDataExactly) {
  const auto two = [](std::string_view first, std::string_view second, std::size_t bytes) {
    return refusal_of(file_of("{" + tensor("1", first) + "," + tensor("1", second, "b") + "}",
                              std::string(bytes, 'x')));
  };
  EXPECT_EQ(two("4,8", "0,4", 8), "accepted");
  EXPECT_THAT(two("0,4", "0,4", 8), HasSubstr("overlap"));
  EXPECT_THAT(two("0,4", "2,6", 6), HasSubstr("overlap"));
  EXPECT_THAT(two("0,4", "5,9", 9), HasSubstr("a hole"));
  EXPECT_THAT(two("1,5", "5,9", 9), HasSubstr("a hole"));
  EXPECT_THAT(two("0,4", "4,8", 6), HasSubstr("cut short"));
  EXPECT_THAT(
      refusal_of(file_of("{" + tensor("1", "0,4") + "}", "abcdextra_bogus_data_for_polyglot_file")),
      HasSubstr("34 bytes behind"));
  EXPECT_THAT(refusal_of(file_of("{}", "x")), HasSubstr("1 bytes behind"));
}

TEST(Safetensors, ManyTensorsOverTheSameBytesAreRefused) {
  std::string header = "{" + tensor("1000000", "0,4000000", "t");
  for (int i = 0; i < 15'000; ++i) {
    header += "," + tensor("1000000", "0,4000000", fmt::format("t{}", i));
  }
  EXPECT_THAT(refusal_of(file_of(header + "}", std::string(4'000'000, 'x'))), HasSubstr("overlap"));
}

TEST(Safetensors, NoDamagedHeaderIsTakenForAnotherFile) {
  Sample sample(1);
  auto layout = plan(sample.contents().model);
  ASSERT_TRUE(layout);
  const std::string bytes = file_of(*layout, sample.contents().model);
  for (std::size_t at = 0; at < bytes.size(); at += at < 600 ? 1 : 97) {
    EXPECT_FALSE(read(std::string_view(bytes).substr(0, at))) << at;
  }
}

}  // namespace
}  // namespace trainward::checkpoint
