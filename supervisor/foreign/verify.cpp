#include "supervisor/foreign/verify.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/json.hpp"
#include "common/os/file.hpp"

namespace trainward::foreign {
namespace {

constexpr std::uint64_t max_header_bytes = 64 * 1024 * 1024;
constexpr std::size_t zip_end_bytes = 22;
constexpr std::size_t zip_comment_bytes = 65'535;

std::string read_at(int fd, std::uint64_t offset, std::size_t length) {
  std::string out(length, '\0');
  std::size_t got = 0;
  while (got < length) {
    const ssize_t more =
        ::pread(fd, out.data() + got, length - got, static_cast<off_t>(offset + got));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  out.resize(got);
  return out;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

tl::unexpected<Error> damaged(std::string what, const std::filesystem::path& path) {
  return fail(ErrorKind::corrupt, std::move(what), path.string());
}

// The end record names where the directory begins and how long it is; both must be there.
Status check_zip(int fd, std::uint64_t size, const std::filesystem::path& path) {
  const std::size_t tail =
      static_cast<std::size_t>(std::min<std::uint64_t>(size, zip_end_bytes + zip_comment_bytes));
  const std::string end = read_at(fd, size - tail, tail);
  const auto at = end.rfind("PK\x05\x06");
  if (at == std::string::npos || end.size() - at < zip_end_bytes) {
    return damaged("the zip archive has no end: it is cut off", path);
  }
  const std::string_view record = std::string_view(end).substr(at);
  const std::uint64_t length = little_endian(record.substr(12, 4));
  const std::uint64_t offset = little_endian(record.substr(16, 4));
  if (offset == 0xffffffff || length == 0xffffffff) return {};  // zip64: beyond 4 GiB
  if (offset + length > size - tail + at) {
    return damaged("the zip archive's directory lies outside the file", path);
  }
  if (length > 0 && read_at(fd, offset, 4) != "PK\x01\x02") {
    return damaged("the zip archive has no directory where its end says", path);
  }
  return {};
}

Status check_safetensors(int fd, std::uint64_t size, const std::filesystem::path& path) {
  const std::string prefix = read_at(fd, 0, 8);
  if (prefix.size() < 8) return damaged("shorter than a safetensors header", path);
  const std::uint64_t length = little_endian(prefix);
  if (length > max_header_bytes || length + 8 > size) {
    return damaged("the safetensors header does not fit into the file", path);
  }
  const auto header = parse_json(read_at(fd, 8, static_cast<std::size_t>(length)), path.string());
  if (!header || !header->is_object()) {
    return damaged("the safetensors header cannot be read", path);
  }
  std::int64_t end = 0;
  for (const auto& [name, entry] : header->get_object()) {
    const auto* tensor = entry.if_object();
    const auto* offsets = tensor == nullptr ? nullptr : tensor->if_contains("data_offsets");
    if (offsets == nullptr) continue;
    const auto* pair = offsets->if_array();
    if (pair == nullptr || pair->size() != 2 || !pair->at(1).is_int64()) {
      return damaged("the safetensors header cannot be read", path);
    }
    end = std::max(end, pair->at(1).get_int64());
  }
  if (static_cast<std::uint64_t>(end) != size - 8 - length) {
    return damaged(fmt::format("the safetensors header promises {} bytes of tensors, the file has "
                               "{}",
                               end, size - 8 - length),
                   path);
  }
  return {};
}

Status check_content(int fd, std::uint64_t size, const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".safetensors") return check_safetensors(fd, size, path);
  const std::string first = read_at(fd, 0, 4);
  if (first == "PK\x03\x04") return check_zip(fd, size, path);
  const bool torch = ending == ".pt" || ending == ".pth";
  const bool pickle = first.size() >= 2 && first[0] == '\x80' && first[1] >= 1 && first[1] <= 5;
  if (torch && !pickle) return damaged("neither a zip archive nor a pickle", path);
  return {};
}

std::int64_t modified_ns(const struct stat& info) {
  return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace

Result<CheckpointFile> verify_foreign(const std::filesystem::path& path, const Folders& folders) {
  if (!lies_inside(path, folders)) {
    return fail(ErrorKind::permanent, "lies outside the program's folders", path.string());
  }
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) {
    if (fd.error().kind == ErrorKind::usage) fd.error().kind = ErrorKind::corrupt;  // a folder
    return propagate(fd);
  }
  struct stat before {};
  if (::fstat(fd->get(), &before) != 0) return fail_errno(errno, "look at", path.string());
  if (before.st_size == 0) return damaged("is empty", path);
  const auto size = static_cast<std::uint64_t>(before.st_size);
  if (auto ok = check_content(fd->get(), size, path); !ok) return propagate(ok);
  struct stat after {};
  if (::fstat(fd->get(), &after) != 0 || after.st_size != before.st_size ||
      modified_ns(after) != modified_ns(before)) {
    return fail(ErrorKind::transient, "is still being written", path.string());
  }
  return CheckpointFile{path, step_in_name(path.filename().string()).value_or(0), size,
                        modified_ns(before)};
}

Result<Selection> select_foreign(const WatchSpec& spec, const Folders& folders,
                                 std::int64_t below_step) {
  Selection out;
  for (CheckpointFile& file : find_checkpoints(spec, folders)) {
    if (below_step > 0 && file.step >= below_step) continue;
    auto verified = verify_foreign(file.path, folders);
    if (verified) {
      out.chosen = std::move(*verified);
      return out;
    }
    if (verified.error().kind == ErrorKind::transient) return propagate(verified);
    out.skipped.push_back({std::move(file), verified.error().what});
  }
  return out;
}

}  // namespace trainward::foreign
