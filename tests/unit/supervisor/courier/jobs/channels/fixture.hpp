// A run database with an outbox, the courier's journal, a channel's job and a clock that is turned
// by hand.
#pragma once

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "http_script.hpp"
#include "messages.hpp"
#include "supervisor/courier/jobs/channels/channel_job.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {

inline constexpr const char* secret = "S3cr3tT0k3nThatNobodyMaySee";

template <typename T>
T must(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().message();
  return result ? std::move(*result) : T();
}

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    open_store();
    open_journal();
  }

  void open_store() {
    auto opened = store::Store::open(database());
    ASSERT_TRUE(opened) << opened.error().message();
    store_.emplace(std::move(*opened));
  }
  void open_journal() {
    journal_.reset();
    auto opened = Journal::open(folder_.path() / courier::journal_name, channel_tables());
    ASSERT_TRUE(opened) << opened.error().message();
    journal_ = std::move(*opened);
  }
  [[nodiscard]] std::string database() const { return (folder_.path() / "trainward.db").string(); }

  std::string secret_file(const std::string& name, const std::string& text) const {  // NOLINT
    const auto file = folder_.write(name, text);
    ::chmod(file.c_str(), 0600);
    return file.string();
  }

  // Its secret is in the path and, where there is one, in the token.
  orders::Channel channel(orders::ChannelKind kind, const std::string& url) const {
    orders::Channel out;
    out.name = "night";
    out.kind = kind;
    out.texts["server"] = url;
    out.secrets["url"].file = secret_file("url", url + "/" + secret + "\n");
    out.secrets["topic"].file = secret_file("topic", secret);
    out.secrets["token"].file = secret_file("token", secret);
    out.texts["room"] = "!r:x";
    out.texts["chat"] = "1";
    return orders::with_defaults(out);
  }

  void begin(const orders::Channel& channel) {
    job_ = make_channel_job(channel, {{"box", "run0"}, {}, 7});
    work();  // it is new: what is on record already is none of its
  }

  // As the runner does it, until there is nothing left for now. When it wants to be called next.
  std::int64_t work(int most = 200) {
    if (!reader_) {
      auto reader = store::Store::open_read_only(database());
      EXPECT_TRUE(reader);
      reader_.emplace(std::move(*reader));
    }
    std::int64_t next = 0;
    for (int i = 0; i < most; ++i) {
      const World world{*reader_, *journal_, now_ms_, stop_.get_token()};
      auto done = job_->work(world);
      EXPECT_TRUE(done) << done.error().message();
      next = done.value_or(now_ms_ + 1'000'000);
      if (next > now_ms_) break;
    }
    return next;
  }
  // Turns the clock to when the job wants to be called, as often as that is before `until_ms`.
  void work_until(std::int64_t until_ms) {
    for (std::int64_t next = work(); next <= until_ms; next = work()) now_ms_ = next;
    now_ms_ = until_ms;
  }

  std::int64_t tell(const std::string& title, const std::string& tier = "warning",
                    std::int64_t episode = 0, bool resolves = false, std::int64_t held_ms = 0) {
    store::MessageRow row;
    row.at_ms = now_ms_;
    row.not_before_ms = now_ms_ + held_ms;
    row.program = "trainer";
    row.episode = episode;
    row.tier = tier;
    row.kind = resolves ? "recovered" : "crashed";
    row.title = title;
    row.message = json::serialize(json::object{
        {"text", "text of " + title}, {"fields", json::object()}, {"resolves", resolves}});
    return must(store_->add_message(row));
  }

  std::int64_t tell_digest(const std::vector<std::int64_t>& tells) {
    store::MessageRow row;
    row.at_ms = row.not_before_ms = now_ms_;
    row.tier = "info";
    row.kind = "digest";
    row.title = "Digest";
    row.message = json::serialize(json::object{{"text", "what happened"},
                                               {"tells", json::array(tells.begin(), tells.end())}});
    return must(store_->add_message(row));
  }

  struct Told {
    std::string state;
    std::string error;
    int tries = 0;
  };
  Told told(std::int64_t message) {
    Told out;
    const auto document = must(recorded(folder_.path()));
    for (const json::value& value : document.at("deliveries").get_array()) {
      const json::object& row = value.get_object();
      if (int_or(row, "message", 0) != message) continue;
      out = {string_or(row, "state", ""), string_or(row, "error", ""),
             static_cast<int>(int_or(row, "tries", 0))};
    }
    return out;
  }
  json::object channel_row() {
    const auto document = must(recorded(folder_.path()));
    const json::array& rows = document.at("channels").get_array();
    return rows.empty() ? json::object() : rows[0].get_object();
  }

  static std::vector<std::string> titles(const test::HttpScript& server) {
    std::vector<std::string> out;
    for (const auto& request : server.requests()) {
      const json::object body = json_of(request.body);
      const json::value* data = body.if_contains("data");
      out.push_back(string_or(data != nullptr ? data->get_object() : body, "title", ""));
    }
    return out;
  }

  // Every byte that was kept of all this.
  [[nodiscard]] std::string journal_bytes() {
    std::string all;
    for (const char* ending : {"", "-wal"}) {
      const std::string file = (folder_.path() / courier::journal_name).string() + ending;
      std::ifstream in(file, std::ios::binary);
      all.append(std::istreambuf_iterator<char>(in), {});
    }
    return all;
  }
  void TearDown() override {
    EXPECT_EQ(journal_bytes().find(secret), std::string::npos) << "a secret is in the journal";
    EXPECT_EQ(json::serialize(must(recorded(folder_.path()))).find(secret), std::string::npos);
  }

  const TemporaryFolder folder_;
  std::optional<store::Store> store_;
  std::optional<store::Store> reader_;  // what jobs see of it
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Job> job_;
  std::stop_source stop_;
  std::int64_t now_ms_ = epoch_ms;
};

}  // namespace trainward::courier
