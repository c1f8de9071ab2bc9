// The routes over a real database and a daemon that writes down what it is asked; the test's thread
// is the loop.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "fake_control.hpp"
#include "supervisor/window/api/routes/routes.hpp"
#include "temporary_folder.hpp"

namespace trainward::api {

// Work posted from any thread, done on the one that waits for it.
class Posted {
 public:
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    came_.notify_all();
  }
  template <typename Condition>
  void run_until(Condition condition) {
    while (!condition()) {
      std::unique_lock lock(mutex_);
      came_.wait(lock, [this] { return !work_.empty(); });
      const auto next = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      next();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::function<void()>> work_;
};

class Routes : public testing::Test {
 protected:
  Response ask(const Request& request) {
    std::optional<Response> got;
    handler_(request, [&](Response response) { got = std::move(response); });
    posted_.run_until([&] { return got.has_value(); });
    return std::move(*got);
  }
  Response ask(const std::string& method, const std::string& path,
               std::map<std::string, std::string> query = {}) {
    return ask(Request{.method = method, .path = path, .query = std::move(query), .by = operator_});
  }
  json::value document(const std::string& path, std::map<std::string, std::string> query = {}) {
    const Response response = ask("GET", path, std::move(query));
    EXPECT_EQ(response.status, 200) << path << ": " << response.body;
    return parse_json(response.body, path).value();
  }
  std::string wrong(const std::string& method, const std::string& path,
                    std::map<std::string, std::string> query) {
    const Response response = ask(method, path, std::move(query));
    EXPECT_EQ(response.status, 400) << response.body;
    const json::value answer = parse_json(response.body, path).value();
    EXPECT_EQ(answer.at("error").at("kind").as_string(), "usage");
    return std::string(answer.at("error").at("what").as_string());
  }

  const Requester operator_{Role::operates, "uid 1000"};
  TemporaryFolder folder_;
  store::Store store_ = store::Store::open(folder_.path() / "run.db").value();
  FakeControl control_;
  Posted posted_;
  Reader reader_{folder_.path() / "run.db",
                 [this](std::function<void()> work) { posted_.post(std::move(work)); }};
  boost::asio::io_context timers_;  // of the feed; nobody listens to it here
  Feed feed_{timers_, reader_, {}, [](json::array&) {}, {}};
  Handler handler_ = make_routes(control_, reader_, feed_);
};

}  // namespace trainward::api
