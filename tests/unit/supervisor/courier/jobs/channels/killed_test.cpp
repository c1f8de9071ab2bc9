// The courier itself, killed at every named point and at every commit: nothing is lost, nothing is
// told twice where the receiver knows repetitions, and elsewhere it is on record as perhaps twice.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <set>

#include "common/os/clock.hpp"
#include "common/os/pipe.hpp"
#include "fixture.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using test::HttpScript;

// How often each message arrived, by its title.
class Receiver {
 public:
  HttpScript::Handler handler() {
    return [this](const test::HttpRequest& request) {
      const json::object body = json_of(request.body);
      const json::value* data = body.if_contains("data");
      const std::lock_guard lock(mutex_);
      ++titles_[data != nullptr ? string_or(data->get_object(), "title", "")
                                : string_or(body, "text", "")];
      ids_.insert(std::string(request.header("webhook-id")));
      changed_.notify_all();
      return test::HttpStep{};
    };
  }
  bool wait_for(const std::string& title) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return titles_.contains(title); });
  }
  std::map<std::string, int> titles() {
    const std::lock_guard lock(mutex_);
    return titles_;
  }
  std::size_t ids() {
    const std::lock_guard lock(mutex_);
    return ids_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> titles_;
  std::set<std::string> ids_;
};

class Courier {
 public:
  Courier(const std::string& orders, const std::string& fault, const std::string& log) {
    auto pipe = make_pipe();
    std::vector<std::string> variables;
    for (char** at = environ; *at != nullptr; ++at) variables.emplace_back(*at);
    if (!fault.empty()) variables.push_back("TRAINWARD_FAULT=" + fault);
    std::vector<char*> environment;
    for (std::string& text : variables) environment.push_back(text.data());
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe->read.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    std::string program = COURIER;
    std::array<char*, 2> words{program.data(), nullptr};
    EXPECT_EQ(
        ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, words.data(), environment.data()),
        0);
    ::posix_spawn_file_actions_destroy(&actions);
    input_ = std::move(pipe->write);
    const std::string line = orders + "\n";
    EXPECT_EQ(::write(input_.get(), line.data(), line.size()), std::ssize(line));
  }
  // Its wait status.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return status;
  }
  int end() {
    input_.reset();
    return wait();
  }

 private:
  pid_t pid_ = -1;
  Fd input_;
};

class Killed : public ChannelTest, public testing::WithParamInterface<std::string> {};

TEST_P(Killed, LosesNothing) {
  now_ms_ = now().wall.ms;
  journal_.reset();
  Receiver hook;
  Receiver slack;
  HttpScript hook_server(hook.handler());
  HttpScript slack_server(slack.handler());
  orders::Orders orders;
  orders.state_dir = folder_.path().string();
  orders.database = database();
  orders.channels.push_back(channel(ChannelKind::webhook, hook_server.url("")));
  orders.channels.back().name = "hook";
  orders.channels.back().secrets.at("url").file =
      secret_file("hook.url", hook_server.url("/" + std::string(secret)));
  orders.channels.push_back(channel(ChannelKind::slack, slack_server.url("")));
  orders.channels.back().name = "slack";
  const std::vector<std::string> titles = {"one", "two", "three"};
  std::vector<std::int64_t> ids;
  for (const std::string& title : titles) ids.push_back(tell(title));

  const std::string log = (folder_.path() / "log").string();
  const int status = Courier(orders::line_of(orders), GetParam(), log).wait();
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the point was not reached";

  // Told in order, so when the last has come the others have come to their end.
  tell("last");
  Courier courier(orders::line_of(orders), "", log);
  ASSERT_TRUE(hook.wait_for("last"));
  ASSERT_TRUE(slack.wait_for("last"));
  EXPECT_EQ(courier.end(), 0);
  std::ifstream said(log);
  const std::string all{std::istreambuf_iterator<char>(said), {}};
  EXPECT_EQ(all.find(secret), std::string::npos) << "a secret is in the log";

  EXPECT_EQ(hook.ids(), 4U) << "the same ids over all repetitions";
  std::map<std::pair<std::string, std::int64_t>, std::string> states;
  const auto document = must(recorded(folder_.path()));
  for (const json::value& value : document.at("deliveries").get_array()) {
    const json::object& row = value.get_object();
    states[{string_or(row, "channel", ""), int_or(row, "message", 0)}] =
        string_or(row, "state", "");
  }
  const auto arrived = slack.titles();
  for (std::size_t i = 0; i < titles.size(); ++i) {
    EXPECT_EQ((states[{"hook", ids[i]}]), "sent") << titles[i];
    ASSERT_TRUE(hook.titles().contains(titles[i]));
    ASSERT_TRUE(arrived.contains(titles[i])) << "lost: " << titles[i];
    const std::string state = states[{"slack", ids[i]}];
    EXPECT_TRUE(state == "perhaps_twice" || (state == "sent" && arrived.at(titles[i]) == 1))
        << titles[i] << " is " << state << " and arrived " << arrived.at(titles[i]) << " times";
  }
}

INSTANTIATE_TEST_SUITE_P(Points, Killed,
                         testing::Values("courier.channel_marked", "courier.channel_marked:2",
                                         "courier.channel_marked:4", "courier.channel_carried",
                                         "courier.channel_carried:3", "courier.channel_carried:6",
                                         "courier.before_commit:2", "courier.before_commit:4",
                                         "courier.before_commit:6", "courier.before_commit:9",
                                         "courier.before_commit:12", "courier.after_commit:3",
                                         "courier.after_commit:5", "courier.after_commit:7",
                                         "courier.after_commit:8", "courier.after_commit:10",
                                         "courier.after_commit:13"));

}  // namespace
}  // namespace trainward::courier
