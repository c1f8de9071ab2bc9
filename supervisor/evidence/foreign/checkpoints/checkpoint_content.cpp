#include "supervisor/evidence/foreign/checkpoints/checkpoint_content.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/os/json_file.hpp"

namespace trainward::foreign {
namespace {

constexpr std::uint64_t max_header_bytes = 100'000'000;  // as the format has it
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

// Where the last tensor ends: the only thing of a header that is kept.
class HeaderListener : public JsonListener {
 public:
  void value(JsonWay at, const JsonScalar& value) override {
    if (at.empty() || is_offsets(at)) readable_ = false;
    if (at.size() != 3 || !is_offsets(at.first(2)) || at[2].index != 1) return;
    const auto* end = std::get_if<std::int64_t>(&value);
    readable_ = readable_ && end != nullptr && *end >= 0;
    if (readable_) end_ = std::max(end_, static_cast<std::uint64_t>(*end));
  }
  void begin(JsonWay at, bool list) override {
    if (at.empty() && list) readable_ = false;
    if (is_offsets(at) && !list) readable_ = false;
    if (at.size() == 3 && is_offsets(at.first(2))) readable_ = false;
  }
  void end(JsonWay at, std::size_t entries) override {
    if (is_offsets(at) && entries != 2) readable_ = false;
  }
  // Nothing: it is no header.
  [[nodiscard]] std::optional<std::uint64_t> last() const {
    return readable_ ? std::optional(end_) : std::nullopt;
  }

 private:
  static bool is_offsets(JsonWay at) {
    return at.size() == 2 && !at[0].list && at[1].key == "data_offsets";
  }
  std::uint64_t end_ = 0;
  bool readable_ = true;
};

Status check_safetensors(int fd, std::uint64_t size, const std::filesystem::path& path) {
  const std::string prefix = read_at(fd, 0, 8);
  if (prefix.size() < 8) return damaged("shorter than a safetensors header", path);
  const std::uint64_t length = little_endian(prefix);
  if (length > max_header_bytes || length > size - 8) {
    return damaged("the safetensors header does not fit into the file", path);
  }
  HeaderListener header;
  const Status told = tell_json(fd, 8, length, path, header);
  const auto end = told ? header.last() : std::nullopt;
  if (!end) return damaged("the safetensors header cannot be read", path);
  if (*end != size - 8 - length) {
    return damaged(fmt::format("the safetensors header promises {} bytes of tensors, the file has "
                               "{}",
                               *end, size - 8 - length),
                   path);
  }
  return {};
}

}  // namespace

Status check_content(int fd, std::uint64_t size, const std::filesystem::path& path) {
  if (size == 0) return damaged("is empty", path);
  const std::string ending = path.extension().string();
  if (ending == ".safetensors") return check_safetensors(fd, size, path);
  // Of PyTorch's distributed checkpoints: many archives, one behind the other.
  if (ending == ".distcp") return {};
  constexpr std::string_view zip = "PK\x03\x04";
  const std::string first = read_at(fd, 0, zip.size());
  if (first == zip) return check_zip(fd, size, path);
  if (zip.starts_with(first)) return damaged("is cut off", path);
  const bool torch = ending == ".pt" || ending == ".pth";
  const bool pickle = first.size() >= 2 && first[0] == '\x80' && first[1] >= 1 && first[1] <= 5;
  if (torch && !pickle) return damaged("neither a zip archive nor a pickle", path);
  return {};
}

}  // namespace trainward::foreign
