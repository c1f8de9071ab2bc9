#include "hwprobe/sysfs_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "common/file.hpp"
#include "common/text.hpp"

namespace trainward::hwprobe {

std::optional<std::string> read_attribute(const std::filesystem::path& file) {
  // O_NONBLOCK: a fake or foreign tree may hold a FIFO, whose open() would wait for a writer.
  auto fd = open_file(file, O_RDONLY | O_NONBLOCK);
  if (!fd) return std::nullopt;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  do {
    got = ::read(fd->get(), buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  return std::string(bytes.substr(0, bytes.find_last_not_of("\r\n") + 1));
}

std::optional<std::int64_t> read_number(const std::filesystem::path& file) {
  const auto text = read_attribute(file);
  if (!text) return std::nullopt;
  std::string_view digits = trim(*text);
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace trainward::hwprobe
