#include "trainer/data/token_file_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/file.hpp"
#include "common/os/rename.hpp"

namespace trainward::trainer {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;

tl::unexpected<Error> taken(const std::filesystem::path& path) {
  return fail(ErrorKind::usage, "is there already", path.string(),
              "remove it or choose another name");
}

}  // namespace

TokenFileWriter::TokenFileWriter(std::filesystem::path path, std::filesystem::path temporary, Fd fd,
                                 TokenHeader header)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      fd_(std::move(fd)),
      header_(std::move(header)) {
  header_.width = token_width(header_.vocabulary);
  header_.tokens = 0;
  header_.documents = 0;
}

TokenFileWriter::~TokenFileWriter() {
  if (fd_) ::unlink(temporary_.c_str());
}

Result<TokenFileWriter> TokenFileWriter::create(const std::filesystem::path& path,
                                                TokenHeader header) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) return taken(path);
  std::filesystem::path temporary = path;
  temporary += fmt::format(".tmp{}", ::getpid());
  auto fd = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd) return propagate(fd);
  TokenFileWriter writer(path, std::move(temporary), std::move(*fd), std::move(header));
  // Its place; what it says is known at the end.
  const std::string room(token_header_bytes, '\0');
  if (auto ok = write_all(writer.fd_.get(), room, writer.temporary_); !ok) return propagate(ok);
  return writer;
}

Status TokenFileWriter::put(TokenId token) {
  if (token < 0 || token >= header_.vocabulary) {
    return fail(ErrorKind::usage,
                fmt::format("token {} is {}, outside the vocabulary of {}", header_.tokens, token,
                            header_.vocabulary),
                path_.string());
  }
  for (std::uint32_t i = 0; i < header_.width; ++i) {
    buffer_ += static_cast<char>(static_cast<std::uint32_t>(token) >> (8 * i) & 0xFFU);
  }
  ++header_.tokens;
  return buffer_.size() < buffer_bytes ? Status() : flush();
}

Status TokenFileWriter::flush() {
  digest_.update(buffer_);
  auto ok = write_all(fd_.get(), buffer_, temporary_);
  buffer_.clear();
  return ok;
}

Status TokenFileWriter::add_document(std::span<const TokenId> tokens) {
  if (header_.documents > 0) {
    if (auto ok = put(header_.end_of_text); !ok) return ok;
  }
  for (const TokenId token : tokens) {
    if (auto ok = put(token); !ok) return ok;
  }
  ++header_.documents;
  return {};
}

Status TokenFileWriter::finish() {
  if (auto ok = flush(); !ok) return ok;
  header_.token_digest = digest_.finish();
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0) {
    return fail_errno(errno, "go back to the header", temporary_.string());
  }
  if (auto ok = write_all(fd_.get(), encode(header_), temporary_); !ok) return ok;
  if (::fsync(fd_.get()) != 0) return fail_errno(errno, "fsync the file", temporary_.string());
  if (const auto error = rename_if_free(temporary_, path_)) {
    if (error == std::errc::file_exists) return taken(path_);
    return fail_errno(error.value(), "rename the finished file into place", path_.string());
  }
  fd_.reset();
  return fsync_folder(path_.parent_path());
}

}  // namespace trainward::trainer
