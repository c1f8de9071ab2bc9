#include "common/wire/standby.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/base/number_in.hpp"
#include "common/os/sockets/passed_descriptors.hpp"

namespace trainward {
namespace {

constexpr std::size_t most_bytes = 64 * 1024;

// One line; nothing: the end came first. Descriptors that come with it go to `memory`.
std::optional<std::string> read_line(int fd, std::vector<Fd>& memory) {
  std::string line;
  while (line.size() < most_bytes) {
    auto passed = receive_with_descriptors(fd, 4096);
    if (!passed || passed->bytes.empty()) return std::nullopt;
    if (!passed->descriptors.empty()) memory = std::move(passed->descriptors);
    line += passed->bytes;
    if (line.ends_with('\n')) return line;
  }
  return std::nullopt;
}

}  // namespace

Begin wait_to_begin(const Notifier& notifier) {
  const char* text = std::getenv(env::standby);
  if (text == nullptr) return Begin::now;
  const auto fd = number_in<int>(std::string_view(text));
  ::unsetenv(env::standby);  // a helper is no standby
  if (!fd) return Begin::now;
  notifier.send({{"READY", "1"}});
  std::vector<Fd> memory;
  const auto line = read_line(*fd, memory);
  ::close(*fd);
  if (!line) return Begin::not_needed;
  const auto variables = parse_json(*line, env::standby);
  if (variables && variables->is_object()) {
    for (const auto& [name, value] : variables->get_object()) {
      if (!value.is_string()) continue;
      ::setenv(std::string(name).c_str(), std::string(value.get_string()).c_str(), 1);
    }
  }
  if (memory.size() == kept_descriptors) {
    const int first = memory[0].release();
    ::setenv(env::memory, fmt::format("{},{}", first, memory[1].release()).c_str(), 1);
  }
  return Begin::now;
}

void tell_to_begin(int fd, const std::map<std::string, std::string>& variables,
                   const std::optional<KeptState>& memory) {
  json::object object;
  for (const auto& [name, value] : variables) object[name] = value;
  std::vector<int> fds;
  if (memory) {
    for (const Fd& one : *memory) fds.push_back(one.get());
  }
  (void)send_with_descriptors(fd, json::serialize(object) + "\n", fds);
}

}  // namespace trainward
