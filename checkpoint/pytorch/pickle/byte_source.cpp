#include "checkpoint/pytorch/pickle/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(Fd fd, std::uint64_t size, std::string where)
      : fd_(std::move(fd)), size_(size), where_(std::move(where)) {}

  std::uint64_t size() const override { return size_; }
  const std::string& where() const override { return where_; }

  Status read(std::uint64_t at, std::span<std::byte> into) const override {
    if (at > size_ || into.size() > size_ - at) {
      return corrupt_at(*this, size_, "the file ends here, inside what it announces",
                        "it is cut short; get a whole copy");
    }
    auto got = read_at(fd_.get(), into, at, where_);
    if (!got) return propagate(got);
    if (*got < into.size()) {
      return corrupt_at(*this, at + *got, "the file became shorter while it was read");
    }
    return {};
  }

 private:
  Fd fd_;
  std::uint64_t size_;
  std::string where_;
};

}  // namespace

Result<SharedSource> open_source(const std::filesystem::path& file) {
  auto fd = open_regular(file, O_RDONLY);
  if (!fd) {
    if (std::filesystem::exists(file)) fd.error().hint = "name the .pt file itself";
    return propagate(fd);
  }
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "stat the file", file.string());
  return std::make_shared<FileSource>(std::move(*fd), static_cast<std::uint64_t>(info.st_size),
                                      file.string());
}

tl::unexpected<Error> corrupt_at(const ByteSource& source, std::uint64_t at, std::string_view what,
                                 std::string hint) {
  return fail(ErrorKind::corrupt, fmt::format("byte {}: {}", at, what), source.where(),
              std::move(hint));
}

Status Cursor::fill(std::string_view what) {
  if (left() == 0) {
    return corrupt_at(source_, at_, fmt::format("the data ends inside {}", what),
                      "the file is cut short; get a whole copy");
  }
  if (at_ >= buffer_at_ && at_ < buffer_at_ + buffered_) return {};
  buffered_ = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left()));
  buffer_at_ = at_;
  auto ok = source_.read(at_, std::span(buffer_).first(buffered_));
  if (!ok) buffered_ = 0;
  return ok;
}

Result<std::uint8_t> Cursor::byte(std::string_view what) {
  if (auto ok = fill(what); !ok) return propagate(ok);
  return static_cast<std::uint8_t>(buffer_[at_++ - buffer_at_]);
}

Result<std::uint64_t> Cursor::little_endian(unsigned bytes, std::string_view what) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    auto next = byte(what);
    if (!next) return propagate(next);
    value |= std::uint64_t{*next} << (8 * i);
  }
  return value;
}

Result<std::string> Cursor::text(std::uint64_t bytes, std::string_view what) {
  if (bytes > left()) {
    return corrupt_at(
        source_, at_,
        fmt::format("{} is said to be {} bytes, but only {} are left", what, bytes, left()),
        "the file is damaged or cut short; get a whole copy");
  }
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    if (auto ok = fill(what); !ok) return propagate(ok);
    const std::size_t from = at_ - buffer_at_;
    const std::size_t part = std::min(text.size() - done, buffered_ - from);
    std::memcpy(text.data() + done, buffer_.data() + from, part);
    done += part;
    at_ += part;
  }
  return text;
}

Result<std::string> Cursor::line(std::size_t longest, std::string_view what) {
  const std::uint64_t begin = at_;
  std::string line;
  for (;;) {
    auto next = byte(what);
    if (!next) return propagate(next);
    if (*next == '\n') return line;
    if (line.size() == longest) {
      return corrupt_at(source_, begin,
                        fmt::format("{} is longer than {} characters", what, longest));
    }
    line.push_back(static_cast<char>(*next));
  }
}

}  // namespace trainward::checkpoint::pytorch
