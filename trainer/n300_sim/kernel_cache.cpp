#include "trainer/n300_sim/kernel_cache.hpp"

#include <fcntl.h>

#include <charconv>
#include <system_error>

#include "common/base/digest.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"

namespace trainward::n300 {
namespace {

constexpr std::string_view build_key = "4098";  // Wormhole
constexpr std::size_t most_bytes = std::size_t{64} << 20;

std::string header_of(const KernelCache::Kernel& kernel) {
  return fmt::format(
      "\x7f"
      "ELF simulated kernel of {}\n{}\n",
      kernel.program, sha256_hex(kernel.text));
}

std::string line_of(std::string_view operation) { return fmt::format("{}\n", operation); }

std::string whole(const KernelCache::Kernel& kernel) {
  std::string content = header_of(kernel);
  for (const std::string_view operation : kernel.operations) content += line_of(operation);
  return content;
}

}  // namespace

std::filesystem::path KernelCache::file_of(const Kernel& kernel) const {
  const std::string digest = sha256_hex(kernel.text);
  std::uint64_t hash = 0;
  std::from_chars(digest.data(), digest.data() + 16, hash, 16);
  return folder_ / "tt-metal-cache" / build_key / "kernels" / kernel.program /
         std::to_string(hash) / "trisc2" / "trisc2.elf";
}

Result<bool> KernelCache::has(const Kernel& kernel) const {
  const std::filesystem::path file = file_of(kernel);
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) return false;
  const auto content = read_file(file, most_bytes);
  if (!content) return fail(ErrorKind::corrupt, content.error().what, file.string());
  if (*content != whole(kernel)) return fail(ErrorKind::corrupt, "Invalid argument", file.string());
  return true;
}

Status KernelCache::compile(const Kernel& kernel, const std::function<void()>& compiled) const {
  const std::filesystem::path file = file_of(kernel);
  if (auto ok = make_folders(file.parent_path()); !ok) return ok;
  const std::filesystem::path growing = file.string() + ".part";
  auto fd = open_file(growing, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd) return propagate(fd);
  if (auto ok = write_all(fd->get(), header_of(kernel), growing); !ok) return ok;
  for (const std::string_view operation : kernel.operations) {
    if (auto ok = write_all(fd->get(), line_of(operation), growing); !ok) return ok;
    compiled();
  }
  std::error_code error;
  std::filesystem::rename(growing, file, error);
  if (error) return fail_errno(error.value(), "rename", file.string());
  return {};
}

Status KernelCache::damage(const Kernel& kernel) const {
  const std::filesystem::path file = file_of(kernel);
  if (auto ok = make_folders(file.parent_path()); !ok) return ok;
  auto fd = open_file(file, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd) return propagate(fd);
  return {};
}

}  // namespace trainward::n300
