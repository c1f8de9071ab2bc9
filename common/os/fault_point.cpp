#include "common/os/fault_point.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace trainward {
namespace {

struct Armed {
  const char* name = std::getenv("TRAINWARD_FAULT");
  std::size_t length = 0;
  int left = 1;

  Armed() {
    if (name == nullptr) return;
    const char* colon = std::strchr(name, ':');
    length = colon == nullptr ? std::strlen(name) : static_cast<std::size_t>(colon - name);
    if (colon != nullptr) left = std::atoi(colon + 1);
  }
};

}  // namespace

void fault_point(const char* name) {
  // Read once: the process counts its own passages.
  static Armed armed;
  if (armed.name == nullptr) return;
  if (std::strlen(name) != armed.length || std::strncmp(name, armed.name, armed.length) != 0) {
    return;
  }
  if (--armed.left == 0) ::kill(::getpid(), SIGKILL);
}

}  // namespace trainward
