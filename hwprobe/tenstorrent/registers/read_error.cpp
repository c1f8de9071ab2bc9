#include "hwprobe/tenstorrent/registers/read_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace trainward::hwprobe {
namespace {

constexpr int highest_errno = 133;  // EHWPOISON

bool looks_like_a_name(std::string_view word) {
  return word.size() > 1 && word.size() < 20 && word.front() == 'E' &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

}  // namespace

tl::unexpected<Error> fail_read(int error_number, std::string where) {
  auto error = fail_errno(error_number, "read it", std::move(where));
  // strerrorname_np() needs no lock: it returns literals.
  const char* name = ::strerrorname_np(error_number);
  error.value().what = fmt::format("{}: {}", name == nullptr ? "EIO" : name,
                                   std::generic_category().message(error_number));
  return error;
}

tl::unexpected<Error> fail_read(std::string_view error_name, std::string where) {
  for (int number = 1; number <= highest_errno; ++number) {
    const char* name = ::strerrorname_np(number);
    if (name != nullptr && error_name == name) return fail_read(number, std::move(where));
  }
  return fail(ErrorKind::permanent, std::string(error_name), std::move(where));
}

std::string error_name(const Error& error) {
  const std::string_view word = std::string_view(error.what).substr(0, error.what.find(':'));
  if (looks_like_a_name(word)) return std::string(word);
  return error.kind == ErrorKind::usage ? "EPERM" : "EIO";
}

}  // namespace trainward::hwprobe
