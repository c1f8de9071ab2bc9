#include "supervisor/daemon/attempt/oom.hpp"

#include <fcntl.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>

#include "common/os/file.hpp"
#include "supervisor/daemon/service/init_system.hpp"

namespace trainward::daemon {
namespace {

constexpr const char* file = "/proc/self/oom_score_adj";
constexpr const char* remembered = "TRAINWARD_WORKER_OOM_SCORE_ADJ";
constexpr int protected_score = -900;

std::optional<int> number(const std::string& text) {
  int value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

int protect_from_oom() {
  const int now = number(read_file(file, 64).value_or("")).value_or(0);
  const char* before = std::getenv(remembered);
  const int workers = before != nullptr ? number(before).value_or(0) : service_unit() ? 0 : now;
  ::setenv(remembered, std::to_string(workers).c_str(), 1);  // for the next image of this process
  if (now > protected_score) {
    // Refused without privileges, and then it stays as it is.
    if (auto score = open_regular(file, O_WRONLY)) {
      (void)write_all(score->get(), std::to_string(protected_score), file);
    }
  }
  return workers;
}

int worker_oom_score() {
  const char* before = std::getenv(remembered);
  return before == nullptr ? 0 : number(before).value_or(0);
}

}  // namespace trainward::daemon
