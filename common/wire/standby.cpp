#include "common/wire/standby.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/base/json/json.hpp"
#include "common/base/number_in.hpp"

namespace trainward {
namespace {

constexpr std::size_t most_bytes = 64 * 1024;

// One line; nothing: the end came first. Descriptors that come with it go to `memory`.
std::optional<std::string> read_line(int fd, std::vector<int>& memory) {
  std::string line;
  while (line.size() < most_bytes) {
    std::array<char, 4096> bytes{};
    iovec data{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kept_descriptors * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(fd, &message, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      memory.resize(count);
      std::memcpy(memory.data(), CMSG_DATA(head), count * sizeof(int));
    }
    line.append(bytes.data(), static_cast<std::size_t>(got));
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
  std::vector<int> memory;
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
    ::setenv(env::memory, fmt::format("{},{}", memory[0], memory[1]).c_str(), 1);
  }
  return Begin::now;
}

void tell_to_begin(int fd, const std::map<std::string, std::string>& variables,
                   const std::optional<KeptState>& memory) {
  json::object object;
  for (const auto& [name, value] : variables) object[name] = value;
  std::string line = json::serialize(object) + "\n";
  iovec data{line.data(), line.size()};
  std::array<int, kept_descriptors> fds{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (memory) {
    for (std::size_t i = 0; i < fds.size(); ++i) fds.at(i) = memory->at(i).get();
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(head), fds.data(), sizeof fds);
  }
  (void)!::sendmsg(fd, &message, MSG_NOSIGNAL);
}

}  // namespace trainward
