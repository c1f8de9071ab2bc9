#include "checkpoint/disk/safetensors_file.hpp"

#include "common/os/file.hpp"

namespace trainward::checkpoint {

Result<Header> read_safetensors_header(int fd, std::uint64_t file_bytes, std::string_view where,
                                       std::size_t most_entries) {
  const auto read = [&](char* to, std::size_t size, std::uint64_t at) -> Status {
    auto got = read_at(fd, std::as_writable_bytes(std::span(to, size)), at, where);
    if (!got) return propagate(got);
    if (*got == size) return {};
    return fail(ErrorKind::corrupt, fmt::format("ends at byte {}, inside its header", at + *got),
                std::string(where), "restore the file from another copy");
  };
  return read_safetensors_header(ReadAt(read), file_bytes, where, most_entries);
}

}  // namespace trainward::checkpoint
