#include <gtest/gtest.h>

#include <future>

#include "routes_fixture.hpp"
#include "supervisor/window/api/http/api_reader.hpp"

namespace trainward::api {
namespace {

class ReaderTest : public testing::Test {
 protected:
  Response ask(std::function<Response(const store::Store&)> read) {
    std::optional<Response> got;
    reader_->answer(std::move(read), [&](Response response) { got = std::move(response); });
    posted_.run_until([&] { return got.has_value(); });
    return std::move(*got);
  }
  std::size_t events() {
    std::size_t count = 0;
    const Response response = ask([&count](const store::Store& store) {
      count = store.events_json("", 0, 10'000).value().size();
      return Response{};
    });
    EXPECT_EQ(response.status, 200) << response.body;
    return count;
  }
  void add_event() { ASSERT_TRUE(store_->add_event({0, 1000, "", 0, "test", "happened"})); }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "run.db";
  std::optional<store::Store> store_ = store::Store::open(file_).value();
  Posted posted_;
  std::optional<Reader> reader_{
      std::in_place, file_, [this](std::function<void()> work) { posted_.post(std::move(work)); }};
};

TEST_F(ReaderTest, SeesWhatWasCommittedBeforeItWasAsked) {
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(events(), i);
    add_event();
  }
}

TEST_F(ReaderTest, ADatabaseThatTookItsPlaceIsRead) {
  add_event();
  EXPECT_EQ(events(), 1U);
  store_.reset();
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::filesystem::remove(file_.string() + ending);
  }
  EXPECT_EQ(ask([](const store::Store&) { return Response{}; }).status, 500) << "there is none";
  store_ = store::Store::open(file_).value();
  EXPECT_EQ(events(), 0U);
  add_event();
  EXPECT_EQ(events(), 1U);
}

TEST_F(ReaderTest, WhenTooMuchWaitsItSaysSoAndGoesOnLater) {
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  std::vector<int> statuses;
  constexpr std::size_t asked = Reader::most_waiting + 10;
  for (std::size_t i = 0; i < asked; ++i) {
    reader_->answer(
        [gone](const store::Store&) {
          gone.wait();
          return Response{};
        },
        [&](const Response& response) { statuses.push_back(response.status); });
  }
  EXPECT_EQ(statuses, std::vector<int>(9, 503)) << "one is at work, the places are full";
  go.set_value();
  posted_.run_until([&] { return statuses.size() == asked; });
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 200),
            static_cast<std::ptrdiff_t>(Reader::most_waiting + 1));
  EXPECT_EQ(events(), 0U);
}

TEST_F(ReaderTest, WhoHasGoneBeforeItsTurnCostsNothing) {
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  bool there = true;
  int read = 0;
  int answered = 0;
  for (int i = 0; i < 3; ++i) {
    reader_->answer(
        [gone, &read](const store::Store&) {
          gone.wait();
          ++read;
          return Response{};
        },
        Respond([&](const Response&) { ++answered; }, [&there, i] { return i != 1 || there; }));
  }
  there = false;
  go.set_value();
  posted_.run_until([&] { return answered == 2; });
  EXPECT_EQ(read, 2);
}

TEST_F(ReaderTest, ItsEndDoesNotWaitForADiskThatDoesNotAnswer) {
  auto go = std::make_shared<std::promise<void>>();
  std::shared_future<void> gone = go->get_future().share();
  std::promise<void> begun;
  bool answered = false;
  reader_->answer(
      [gone, &begun](const store::Store&) {
        begun.set_value();
        gone.wait();
        return Response{};
      },
      [&](const Response&) { answered = true; });
  begun.get_future().wait();
  const auto before = std::chrono::steady_clock::now();
  reader_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  go->set_value();
  EXPECT_FALSE(answered);
}

TEST_F(ReaderTest, AReadSeesOneStateOfTheDatabase) {
  std::promise<void> read;
  std::promise<void> written;
  std::size_t before = 0;
  std::size_t after = 99;
  std::optional<Response> got;
  reader_->answer(
      [&](const store::Store& store) {
        before = store.events_json("", 0, 10).value().size();
        read.set_value();
        written.get_future().wait();
        after = store.events_json("", 0, 10).value().size();
        return Response{};
      },
      [&](Response response) { got = std::move(response); });
  read.get_future().wait();
  add_event();
  written.set_value();
  posted_.run_until([&] { return got.has_value(); });
  EXPECT_EQ(before, after);
  EXPECT_EQ(events(), 1U);
}

}  // namespace
}  // namespace trainward::api
