// News over a real socket, from a real database.
#include "supervisor/window/api/routes/feed.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <future>
#include <random>
#include <thread>
#include <type_traits>

#include "common/os/fd.hpp"
#include "routes_fixture.hpp"
#include "supervisor/window/api/http/http_server.hpp"
#include "supervisor/window/api/http/sse.hpp"

namespace trainward::api {
namespace {

struct Message {
  std::string id;
  std::string event;
  json::value data;
};

// As a member of a document.
json::string text_of(int number) { return json::string(std::to_string(number)); }

// One that listens, and gives up its connection when it goes.
class Listening {
 public:
  Listening(const std::filesystem::path& socket, const std::string& target,
            const std::string& headers = "")
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    // The old version is answered without chunks.
    const std::string request = "GET " + target + " HTTP/1.0\r\n" + headers + "\r\n";
    (void)::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL);
    head = until("\r\n\r\n");
  }
  // The next message that is none of these events; nothing at the end.
  std::optional<Message> next(const std::string& but = "status") {
    for (;;) {
      const std::string block = until("\n\n");
      if (block.empty()) return std::nullopt;
      Message message;
      std::istringstream lines(block);
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(":")) ++heartbeats;
        if (line.starts_with("id: ")) message.id = line.substr(4);
        if (line.starts_with("event: ")) message.event = line.substr(7);
        if (line.starts_with("data: ")) message.data = parse_json(line.substr(6), "").value();
      }
      if (!message.event.empty() && message.event != but) return message;
    }
  }
  std::string head;
  int heartbeats = 0;

 private:
  std::string until(const std::string& ending) {
    std::string all;
    for (char c = 0; !all.ends_with(ending);) {
      if (::recv(fd_.get(), &c, 1, 0) != 1) return all;
      all += c;
    }
    return all;
  }
  Fd fd_;
};

class FeedTest : public testing::Test {
 protected:
  FeedTest() {
    EXPECT_TRUE(store_.put_program({"a", "RUNNING", "", "", "", 1000, 0}));
    EXPECT_TRUE(store_.put_program({"b", "RUNNING", "", "", "", 1000, 0}));
    for (const char* program : {"a", "b"}) {
      store::AttemptRow attempt;
      attempt.program = program;
      attempt.number = 1;
      EXPECT_TRUE(store_.put_attempt(attempt));
    }
    store_.on_commit(feed_->poke());
    server_ = std::move(
        *HttpServer::listen(context_, socket_, make_routes(control_, *reader_, *feed_), {}));
    thread_ = std::thread([this] { context_.run(); });
  }
  ~FeedTest() override {
    on_loop([this] {
      server_.reset();
      feed_.reset();
      reader_.reset();
    });
    work_.reset();
    context_.stop();
    thread_.join();
  }
  FeedTest(const FeedTest&) = delete;
  FeedTest& operator=(const FeedTest&) = delete;

  template <typename Work>
  std::invoke_result_t<Work&> on_loop(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    boost::asio::post(context_, [&task] { task(); });
    return result.get();
  }
  // As the daemon does: on the loop.
  void happen(const std::string& program, int events = 1) {
    on_loop([&] {
      auto transaction = store_.begin(store::Store::Survives::process).value();
      for (int i = 0; i < events; ++i) {
        ++happened_;
        EXPECT_TRUE(store_.add_event({0, 1000, program, 1, "test", std::to_string(happened_)}));
      }
      EXPECT_TRUE(transaction.commit());
    });
  }

  TemporaryFolder folder_;
  std::filesystem::path socket_ = folder_.path() / "api.sock";
  store::Store store_ = store::Store::open(folder_.path() / "run.db").value();
  int happened_ = 0;
  FakeControl control_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::unique_ptr<Reader> reader_ = std::make_unique<Reader>(
      folder_.path() / "run.db",
      [this](std::function<void()> work) { boost::asio::post(context_, std::move(work)); });
  std::unique_ptr<Feed> feed_ = std::make_unique<Feed>(
      context_, *reader_, Feed::Greeting{77, "1.2.3"}, [](json::array&) {},
      Feed::Pace{std::chrono::milliseconds(1), std::chrono::milliseconds(20),
                 std::chrono::milliseconds(20)});
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

TEST(Sse, AMessageIsItsLinesWhateverIsInIt) {
  EXPECT_EQ(sse("event", json::object{{"text", "a\nb\r\n\ndata: x"}}, 7),
            "id: 7\nevent: event\ndata: {\"text\":\"a\\nb\\r\\n\\ndata: x\"}\n\n");
}

TEST_F(FeedTest, GreetsAndTellsWhatHappensAndWhatProgramsAreAt) {
  happen("a");
  Listening client(socket_, "/v1/stream");
  EXPECT_NE(client.head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(client.head.find("Cache-Control: no-cache\r\n"), std::string::npos);
  const auto hello = client.next();
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->event, "hello");
  EXPECT_EQ(hello->data.at("version"), "1.2.3");
  EXPECT_EQ(hello->data.at("started_ms"), 77);
  const auto status = client.next("");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->event, "status");
  EXPECT_EQ(status->data.at("programs").as_array().size(), 2U);
  happen("b");
  const auto event = client.next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->event, "event");
  EXPECT_EQ(event->id, "2");
  EXPECT_EQ(event->data.at("text"), "2");
  on_loop([this] { EXPECT_TRUE(store_.add_step("a", store::StepRow{{.loss = 1.5}, 9, 1})); });
  const auto step = client.next();
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->event, "step");
  EXPECT_EQ(step->data.at("step"), 9);
  EXPECT_EQ(step->data.at("loss"), 1.5);
}

TEST_F(FeedTest, OfOneProgramNothingOfTheOthersComes) {
  Listening client(socket_, "/v1/stream?program=b&after=0");
  happen("a", 3);
  happen("b");
  happen("a");
  happen("b");
  EXPECT_EQ(client.next()->event, "hello");
  EXPECT_EQ(client.next()->data.at("text"), "4");
  EXPECT_EQ(client.next()->data.at("text"), "6");
}

// Whoever comes back with the last id it has gets the rest: all of it, once, in its order.
TEST_F(FeedTest, ComingBackLeavesNothingOutAndRepeatsNothing) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int all = 1'500;
  std::thread writer([this, seed] {
    std::mt19937 chance(seed + 1);
    while (happened_ < all) {
      happen(chance() % 2 == 0 ? "a" : "b",
             std::min(static_cast<int>(chance() % 150), all - happened_));
    }
  });
  std::string last = "0";
  int expected = 1;
  while (expected <= all) {
    Listening client(socket_, "/v1/stream?after=0", "Last-Event-ID: " + last + "\r\n");
    const int some = 1 + static_cast<int>(random() % 200);
    for (int i = 0; i < some && expected <= all; ++i) {
      auto message = client.next();
      ASSERT_TRUE(message.has_value());
      if (message->event != "event") continue;
      EXPECT_EQ(message->data.at("text"), text_of(expected));
      last = message->id;
      ++expected;
    }
  }
  writer.join();
}

TEST_F(FeedTest, WithoutAnIdTheGreetingHasOneToComeBackWith) {
  happen("a", 5);
  std::string last;
  {
    Listening client(socket_, "/v1/stream");
    last = client.next()->id;
  }
  EXPECT_EQ(last, "5");
  happen("a");
  Listening client(socket_, "/v1/stream", "Last-Event-ID: " + last + "\r\n");
  client.next();
  EXPECT_EQ(client.next()->data.at("text"), "6");
}

TEST_F(FeedTest, WhatIsTooOldOrNeverWasStartsOver) {
  happen("a", static_cast<int>(Feed::most_behind) + 1);
  for (const char* id : {"0", "99999999", "rubbish"}) {
    Listening client(socket_, "/v1/stream", std::string("Last-Event-ID: ") + id + "\r\n");
    EXPECT_EQ(client.next()->event, "hello");
    EXPECT_EQ(client.next()->event, "reset") << id;
  }
}

TEST_F(FeedTest, ThereAreSixteenAndMoreAreToldSo) {
  std::vector<std::unique_ptr<Listening>> clients;
  for (std::size_t i = 0; i < Feed::most_listeners; ++i) {
    clients.push_back(std::make_unique<Listening>(socket_, "/v1/stream"));
    EXPECT_TRUE(clients.back()->head.starts_with("HTTP/1.1 200"));
  }
  EXPECT_TRUE(Listening(socket_, "/v1/stream").head.starts_with("HTTP/1.1 503"));
  clients.pop_back();
  while (!Listening(socket_, "/v1/stream").head.starts_with("HTTP/1.1 200")) {
  }
}

TEST_F(FeedTest, AProgramThatIsNotHereIs404) {
  EXPECT_TRUE(Listening(socket_, "/v1/stream?program=nope").head.starts_with("HTTP/1.1 404"));
}

TEST_F(FeedTest, AHeartbeatComesWhenNothingDoes) {
  Listening client(socket_, "/v1/stream");
  client.next();
  client.next("");
  happen("a");  // by now it may have come
  while (client.heartbeats == 0) {
    happen("a");
    client.next();
  }
  EXPECT_GT(client.heartbeats, 0);
}

TEST_F(FeedTest, WhoDoesNotReadHoldsNobodyUpAndMissesNothing) {
  Listening slow(socket_, "/v1/stream?after=0");
  Listening other(socket_, "/v1/stream?after=0");
  std::thread reader([&other] {
    for (int seen = 0; seen < 4'000;) {
      const auto message = other.next();
      if (!message) break;
      if (message->event == "event")
        seen = std::stoi(std::string(message->data.at("text").as_string()));
    }
  });
  for (int i = 0; i < 40; ++i) happen("a", 100);
  reader.join();
  // It has what fits into its socket, and the rest stays on record until it reads.
  for (int expected = 1; expected <= 4'000;) {
    const auto message = slow.next();
    ASSERT_TRUE(message.has_value());
    if (message->event != "event") continue;
    EXPECT_EQ(message->data.at("text"), text_of(expected++));
  }
}

TEST_F(FeedTest, TheEndOfTheFeedEndsItsStreams) {
  Listening client(socket_, "/v1/stream");
  client.next();
  on_loop([this] { feed_.reset(); });
  while (client.next("")) {
  }
}

}  // namespace
}  // namespace trainward::api
