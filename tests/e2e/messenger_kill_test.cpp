// The real daemon and its real courier, killed at every named point on the way from a crash to the
// people who are told of it: each message of the episode arrives, and arrives once; where the reply
// was lost and the receiver does not know repetitions, it is on record as perhaps told twice.
//
// TRAINWARD_KILL_ROUNDS: how many rounds, 18 when nothing is said.
#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "common/base/json/json.hpp"
#include "common/base/random.hpp"
#include "http_script.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

// How often each thing arrived.
class Receiver {
 public:
  using Key = std::string (*)(const test::HttpRequest&);
  explicit Receiver(Key key)
      : server_([this, key](const test::HttpRequest& request) {
          const std::lock_guard lock(mutex_);
          ++arrived_[key(request)];
          return test::HttpStep{};
        }) {}
  [[nodiscard]] std::string url() const { return server_.url("/hook"); }
  std::map<std::string, int> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(arrived_, {});
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> arrived_;
  test::HttpScript server_;
};

std::string id_of(const test::HttpRequest& request) {
  return std::string(request.header("webhook-id"));
}
std::string text_of(const test::HttpRequest& request) {
  const auto body = parse_json(request.body, "a message");
  return body && body->is_object() ? string_or(body->get_object(), "text", "") : "";
}

struct Point {
  const char* name;
  int passages;  // of which one is chosen
};
constexpr std::array points{
    Point{"turn.before_commit", 24},
    Point{"turn.after_commit", 24},
    Point{"news.before_commit", 3},
    Point{"news.after_commit", 3},
    Point{"launch.decided", 3},
    Point{"launch.prepared", 3},
    Point{"launch.spawned", 3},
    Point{"launch.done", 3},
    Point{"courier.ordered", 1},
    Point{"courier.leased", 1},
    Point{"courier.job", 8},
    Point{"courier.before_commit", 12},
    Point{"courier.after_commit", 12},
    Point{"courier.channel_marked", 4},
    Point{"courier.channel_carried", 4},
};

class MessengerKilled : public World {
 protected:
  // It ends three times, which is given up: a message at the first end and one at the last. What is
  // given up is told again each `repeat`.
  void configure(const std::string& repeat) {
    write("fail.sh", "echo 'RuntimeError: the widget is bent' >&2\nexit 3\n");
    for (const auto& [name, receiver] : {std::pair("hook.url", &hook_), {"slack.url", &slack_}}) {
      write(name, receiver->url());
      ASSERT_EQ(::chmod(path(name).c_str(), 0600), 0);
    }
    write("run.yaml", "notify:\n  hold: 0s\n  repeat: " + repeat +
                          "\n  channels:\n    hook: {webhook: {url_file: hook.url}}\n"
                          "    slack: {slack: {url_file: slack.url}}\n"
                          "programs:\n  run:\n    command: [sh, fail.sh]\n"
                          "    budgets: {attempts_without_progress: 3}\n"
                          "    backoff: {first: 10ms, max: 20ms}\n");
  }
  std::vector<store::MessageRow> outbox() {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    if (!store) return {};
    return store->messages_after(0, 1000).value_or(std::vector<store::MessageRow>{});
  }
  // By channel and message.
  std::map<std::pair<std::string, std::int64_t>, std::string> states() {
    std::map<std::pair<std::string, std::int64_t>, std::string> states;
    const auto document = courier::recorded(path(".trainward"));
    if (!document) return states;
    for (const json::value& value : document->at("deliveries").get_array()) {
      const json::object& row = value.get_object();
      states[{string_or(row, "channel", ""), int_or(row, "message", 0)}] =
          string_or(row, "state", "");
    }
    return states;
  }
  // What was given up, and all that was decided before, has come to its end in both channels.
  bool all_told() {
    if (state() != "FATAL") return false;
    const auto rows = outbox();
    const auto known = states();
    return !rows.empty() && std::ranges::all_of(rows, [&](const store::MessageRow& row) {
      return std::ranges::all_of(std::array{"hook", "slack"}, [&](const char* channel) {
        const auto found = known.find({channel, row.id});
        return row.dropped ||
               (found != known.end() && found->second != "waiting" && found->second != "sending");
      });
    });
  }
  // Until the fault has struck, or was not on the way. Whether it has.
  bool run_until_killed(const std::string& fault, bool repeats) {
    ::setenv("TRAINWARD_FAULT", fault.c_str(), 1);
    const pid_t daemon = start_daemon({"run.yaml"});
    ::unsetenv("TRAINWARD_FAULT");
    bool killed = false;
    wait_until([&] {
      siginfo_t ended{};
      ::waitid(P_PID, static_cast<id_t>(daemon), &ended, WEXITED | WNOHANG | WNOWAIT);
      killed = ended.si_pid != 0 ||
               daemon_log().find("trainward-courier was ended by signal 9") != std::string::npos;
      return killed || (!repeats && all_told());
    });
    ::kill(daemon, SIGKILL);
    EXPECT_EQ(end_of(daemon), -SIGKILL) << daemon_log();
    return killed;
  }

  Receiver hook_{id_of};
  Receiver slack_{text_of};
};

TEST_F(MessengerKilled, TellsEachMessageOnce) {
  const char* asked = std::getenv("TRAINWARD_KILL_ROUNDS");
  const int rounds = asked == nullptr ? 18 : std::atoi(asked);
  SplitMix64 random(19);
  int killed = 0;
  int perhaps_twice = 0;
  int told = 0;
  for (int round = 0; round < rounds; ++round) {
    const Point& point = points.at(static_cast<std::size_t>(round) % points.size());
    const std::string fault =
        std::string(point.name) + ":" +
        std::to_string(1 + random.below(static_cast<std::uint64_t>(point.passages)));
    SCOPED_TRACE(std::to_string(round) + " " + fault);
    std::filesystem::remove_all(path(".trainward"));
    std::filesystem::remove(path("daemon.log"));
    const bool repeats = std::string_view(point.name).starts_with("news.");
    configure(repeats ? "1s" : "0s");
    if (run_until_killed(fault, repeats)) ++killed;

    configure("0s");
    const pid_t daemon = start_daemon({"run.yaml"});
    wait_until([&] { return all_told(); });
    ask_to_end(daemon);
    ASSERT_EQ(end_of(daemon), 0) << daemon_log();

    const auto rows = outbox();
    const auto known = states();
    auto ids = hook_.take();
    auto texts = slack_.take();
    std::int64_t given_up = 0;
    for (const store::MessageRow& row : rows) {
      EXPECT_EQ(row.episode, rows.front().episode) << "one episode";
      if (row.kind == "gave_up") ++given_up;
      if (row.dropped) continue;
      // The receiver knows repetitions, so that what arrived twice was one.
      const std::string hook = known.at({"hook", row.id});
      const auto id = std::ranges::find_if(ids, [&](const auto& entry) {
        return entry.first.ends_with("_" + std::to_string(row.id));
      });
      EXPECT_TRUE(hook == "sent" || hook == "replaced") << row.title << " is " << hook;
      if (hook == "sent") {
        ASSERT_NE(id, ids.end()) << "lost: " << row.title;
        ++told;
      }
      if (id != ids.end()) ids.erase(id);
      const std::string slack = known.at({"slack", row.id});
      const int times = texts[row.title];
      if (slack == "sent") {
        EXPECT_GE(times, 1) << "lost: " << row.title;
        ++told;
      } else if (slack == "perhaps_twice") {
        EXPECT_GE(times, 1) << "lost: " << row.title;
        ++perhaps_twice;
      } else {
        EXPECT_EQ(slack, "replaced") << row.title;
      }
    }
    EXPECT_TRUE(ids.empty()) << "told of what is not on record: " << ids.begin()->first;
    EXPECT_TRUE(repeats ? given_up >= 1 : given_up == 1) << given_up;
    // Messages with the same title are told apart by their ids alone.
    for (const auto& [title, times] : texts) {
      const auto most = std::ranges::count_if(rows, [&, &title = title](const auto& row) {
        return row.title == title && (known.at({"slack", row.id}) != "replaced" || times > 0);
      });
      const auto doubts = std::ranges::count_if(rows, [&, &title = title](const auto& row) {
        return row.title == title && known.at({"slack", row.id}) == "perhaps_twice";
      });
      EXPECT_LE(times, most + doubts) << title << " arrived " << times << " times";
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(killed, rounds * 2 / 3);
  std::printf("%d rounds, killed in %d: %d told, %d perhaps twice\n", rounds, killed, told,
              perhaps_twice);
}

}  // namespace
}  // namespace trainward::e2e
