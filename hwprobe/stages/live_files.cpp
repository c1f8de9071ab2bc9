#include "hwprobe/stages/live_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>

#include "common/os/fd.hpp"

namespace trainward::hwprobe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t attribute_bytes = 4096;
constexpr std::size_t header_bytes = 64;  // of a configuration space: what every user may read
constexpr std::size_t most_names = 4096;
// No wait of ours is longer; a number in a key is no reason to sleep for ever.
constexpr std::int64_t longest_wait_ms = 60'000;

void set_error(Reading& reading, int number) {
  const char* name = ::strerrorname_np(number);
  reading.error = name == nullptr ? "EIO" : name;
}

void read_up_to(const fs::path& file, std::size_t limit, Reading& reading) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return set_error(reading, errno);
  std::array<char, attribute_bytes> buffer{};
  ssize_t got = 0;
  do {
    got = ::read(fd.get(), buffer.data(), std::min(limit, buffer.size()));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return set_error(reading, errno);
  reading.value.assign(buffer.data(), static_cast<std::size_t>(got));
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}

void list(const fs::path& folder, Reading& reading) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator() && names.size() < most_names;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    // A space would be read back as two names; the kernel's names have none.
    if (name.find(' ') == std::string::npos) names.push_back(std::move(name));
  }
  if (error) return set_error(reading, error.value());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (!reading.value.empty()) reading.value += ' ';
    reading.value += name;
  }
}

}  // namespace

Reading LiveFiles::answer(std::string_view verb, std::string_view argument) {
  Reading reading{fmt::format("{} {}", verb, argument), "", ""};
  const fs::path path = root_ / fs::path(argument).relative_path();
  if (verb == "file") {
    read_up_to(path, attribute_bytes, reading);
  } else if (verb == "bytes") {
    read_up_to(path, header_bytes, reading);
    reading.value = hex(reading.value);
  } else if (verb == "list") {
    list(path, reading);
  } else if (verb == "link") {
    std::error_code error;
    reading.value = fs::read_symlink(path, error).string();
    if (error) set_error(reading, error.value());
  } else if (verb == "wait") {
    std::int64_t time = 0;
    std::from_chars(argument.data(), argument.data() + argument.size(), time);
    wait_(std::chrono::milliseconds(std::clamp<std::int64_t>(time, 0, longest_wait_ms)));
    reading.value = "done";
  } else {
    set_error(reading, ENOTSUP);
  }
  return reading;
}

}  // namespace trainward::hwprobe
