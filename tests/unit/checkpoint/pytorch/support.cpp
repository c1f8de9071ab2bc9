#include "tests/unit/checkpoint/pytorch/support.hpp"

#include <gtest/gtest.h>

#include "tests/unit/checkpoint/pytorch/memory_source.hpp"
#include "tests/unit/checkpoint/support.hpp"

namespace trainward::checkpoint::pytorch::testing {

SharedSource memory(const std::string& bytes) {
  return source_in_memory(std::as_bytes(std::span(bytes)), "sample.pt");
}

Result<Parsed> parse(const std::string& pickle, const Limits& limits) {
  const SharedSource source = memory(pickle);
  return parse_pickle(*source, 0, pickle.size(), limits);
}

std::string little(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
std::string text(std::string_view value) {
  return "X" + little(value.size(), 4) + std::string(value);
}
std::string name(std::string_view module, std::string_view name) {
  return fmt::format("c{}\n{}\n", module, name);
}
std::string pickle(std::string_view body) { return "\x80\x02" + std::string(body) + "."; }

std::string tensor(const TensorText& values, Layout layout) {
  const auto tuple = [](const std::vector<std::int64_t>& numbers) {
    std::string out = "(";
    for (const std::int64_t number : numbers) {
      out += "\x8a\x08" + little(static_cast<std::uint64_t>(number), 8);
    }
    return out + "t";
  };
  return name("torch._utils", "_rebuild_tensor_v2") + "((" + text("storage") +
         name("torch", values.storage) + text(values.key) + text("cpu") + "J" +
         little(values.elements, 4) + (layout == Layout::legacy ? "N" : "") + "tQJ" +
         little(values.offset, 4) + tuple(values.shape) + tuple(values.stride) + "\x89" +
         name("collections", "OrderedDict") + ")RtR";
}

std::string file_of(Layout layout, const std::string& pickle,
                    const std::vector<std::string>& storages) {
  const checkpoint::testing::ScratchFolder scratch(checkpoint::testing::Medium::memory);
  std::vector<StorageBytes> bytes;
  for (std::size_t i = 0; i < storages.size(); ++i) {
    bytes.push_back({std::to_string(i), 1, std::as_bytes(std::span(storages[i]))});
  }
  const std::filesystem::path file = scratch.path() / "sample.pt";
  const auto written =
      layout == Layout::legacy ? write_legacy(file, pickle, bytes) : write_zip(file, pickle, bytes);
  EXPECT_TRUE(written) << written.error().message();
  return checkpoint::testing::read_bytes(file);
}

std::string sample(Layout layout) {
  PickleWriter out;
  const std::vector<std::int64_t> matrix{2, 3};
  const std::vector<std::int64_t> vector{3};
  out.begin_dict();
  out.text("w");
  out.tensor({.key = "0", .dtype = DType::f32, .shape = matrix}, layout);
  out.text("b");
  out.tensor({.key = "1", .dtype = DType::bf16, .shape = vector}, layout);
  out.text("step");
  out.integer(5);
  out.end_items();
  const std::string floats(24, '\x3f');
  const std::string halves = "\x80\x3f\x00\x40\x40\x40"s;
  const std::vector<StorageBytes> storages{{"0", 4, std::as_bytes(std::span(floats))},
                                           {"1", 2, std::as_bytes(std::span(halves))}};
  const checkpoint::testing::ScratchFolder scratch(checkpoint::testing::Medium::memory);
  const std::filesystem::path file = scratch.path() / "sample.pt";
  const auto write = layout == Layout::legacy ? write_legacy : write_zip;
  const auto written = write(file, out.finish(), storages, {});
  EXPECT_TRUE(written) << written.error().message();
  return checkpoint::testing::read_bytes(file);
}

std::string raw_zip(const std::vector<RawEntry>& entries, std::string_view between,
                    std::string_view comment) {
  std::string out;
  std::string directory;
  for (const RawEntry& entry : entries) {
    const auto size = static_cast<std::int64_t>(entry.data.size());
    const auto claimed =
        static_cast<std::uint64_t>(entry.claimed_size >= 0 ? entry.claimed_size : size);
    const auto local = static_cast<std::uint64_t>(
        entry.local_size >= 0 ? entry.local_size : static_cast<std::int64_t>(claimed));
    const std::string& local_name = entry.local_name.empty() ? entry.name : entry.local_name;
    const auto at = entry.header_at >= 0 ? static_cast<std::uint64_t>(entry.header_at) : out.size();
    const std::string common = little(entry.flags, 2) + little(entry.method, 2) + little(0, 4) +
                               little(entry.crc, 4) + little(entry.data.size(), 4);
    out += "PK\x03\x04" + little(20, 2) + common + little(local, 4) + little(local_name.size(), 2) +
           little(entry.extra.size(), 2) + local_name + entry.extra + entry.data;
    directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + common + little(claimed, 4) +
                 little(entry.name.size(), 2) + little(0, 2) + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(at, 4) + entry.name;
  }
  out += between;
  const std::uint64_t begin = out.size();
  return out + directory + "PK\x05\x06" + little(0, 4) + little(entries.size(), 2) +
         little(entries.size(), 2) + little(directory.size(), 4) + little(begin, 4) +
         little(comment.size(), 2) + std::string(comment);
}

}  // namespace trainward::checkpoint::pytorch::testing
