#include "supervisor/ctl/fleet/ask.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/client/ssh_connection.hpp"

namespace trainward::ctl::fleet {
namespace {

using Clock = std::chrono::steady_clock;

// What is left of a machine's time; never so little that it is no time at all.
class Countdown {
 public:
  explicit Countdown(std::chrono::milliseconds whole) : end_(Clock::now() + whole) {}
  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()),
                    std::chrono::milliseconds(1));
  }

 private:
  Clock::time_point end_;
};

ClientError of_another_version(const std::string& host) {
  return {Trouble::garbled,
          {ErrorKind::corrupt, "trainwardd's answer is not a list of objects", host,
           "trainwardctl and trainwardd may be of different versions"},
          0};
}

void ask_daemon(const Client& client, const Countdown& time, HostAnswer& answer) {
  auto programs = client.document(Method::get, "/v1/programs", time.left());
  if (!programs) {
    answer.failure = std::move(programs.error());
    return;
  }
  const bool list = programs->is_array() &&
                    std::all_of(programs->get_array().begin(), programs->get_array().end(),
                                [](const json::value& row) { return row.is_object(); });
  if (!list) {
    answer.failure = of_another_version(answer.host);
    return;
  }
  answer.programs = std::move(programs->get_array());
  const auto version = client.document(Method::get, "/v1/version", time.left());
  if (version && version->is_object()) answer.troubles = texts_in(version->get_object(), "trouble");
}

HostAnswer ask(const Host& host, std::chrono::milliseconds deadline) {
  HostAnswer answer{host.name, {}, {}, {}};
  const Countdown time(deadline);
  if (!host.address) {
    ask_daemon(Client(host.socket), time, answer);
    return answer;
  }
  const auto connection = std::make_shared<remote::Connection>(*host.address, false);
  if (auto reached = connection->wait(time.left()); !reached) {
    answer.failure = std::move(reached.error());
    return answer;
  }
  ask_daemon(Client(connection), time, answer);
  return answer;
}

}  // namespace

std::vector<HostAnswer> ask_all(const std::vector<Host>& hosts,
                                std::chrono::milliseconds deadline) {
  std::vector<HostAnswer> answers(hosts.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < hosts.size(); i = next++) answers[i] = ask(hosts[i], deadline);
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::min(most_at_once, hosts.size()); ++i) {
    workers.emplace_back(work);
  }
  workers.clear();  // waits for them
  return answers;
}

}  // namespace trainward::ctl::fleet
