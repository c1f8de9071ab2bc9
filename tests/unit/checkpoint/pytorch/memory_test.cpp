// A file of gigabytes is imported and written in some tens of megabytes.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "checkpoint/pytorch/import.hpp"
#include "tests/unit/checkpoint/pytorch/support.hpp"
#include "tests/unit/checkpoint/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

// Peak memory of a process of its own in KiB, or 0 when `work` failed.
long peak_of(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = 0;
  struct rusage usage {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) return 0;
  return usage.ru_maxrss;
}

TEST(Memory, ALargeFileIsStreamed) {
  const checkpoint::testing::ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "large.pt";
  constexpr std::uint32_t elements = 750'000'000;
  // A file with a hole: its data take no room on the disk.
  const std::string parts[] = {
      "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"s,
      pickle("M\xe9\x03"),
      pickle("}" + text("little_endian") + "\x88s"),
      pickle("}(" + text("a") +
             tensor({.elements = elements, .shape = {elements}}, Layout::legacy) + text("b") +
             tensor({.elements = elements, .shape = {elements / 3, 3}, .stride = {1, elements / 3}},
                    Layout::legacy) +
             "u"),
      pickle("]" + text("0") + "a"),
      little(elements, 8)};
  std::ofstream out(file, std::ios::binary);
  for (const std::string& part : parts) out << part;
  out.close();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + 4ULL * elements);

  const long peak = peak_of([&] {
    auto inspected = inspect_pytorch(*open_source(file));
    if (!inspected) return false;
    std::vector<std::byte> portion(4U << 20U);
    for (const TensorSource& source : inspected->contents.model) {
      const std::uint64_t size = byte_count(source.info).value_or(0);
      // The strided one costs a system call an element; its first part shows what it needs.
      const std::uint64_t most = source.info.shape.size() == 2 ? portion.size() / 4 : size;
      for (std::uint64_t at = 0; at < most; at += 16 * portion.size()) {
        const std::uint64_t part = std::min<std::uint64_t>(portion.size(), most - at);
        if (!source.read(at, std::span(portion).first(part))) return false;
      }
    }
    return true;
  });
  EXPECT_GT(peak, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(peak, 200 * 1024) << "KiB";
#endif
}

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
