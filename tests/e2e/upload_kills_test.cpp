// Checkpoints that leave the box, whoever is ended by SIGKILL on the way: each arrives once.
//
// TRAINWARD_KILLS asks for so many kills of each test at least; TRAINWARD_SEED repeats a run.
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "common/base/text.hpp"
#include "fake_hub.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"
#include "uploads.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using test::FakeHub;
using test::FakeS3;

// The real courier, ended at every place that has a name, and gone on with by the next.
class Kills : public Uploads {
 protected:
  // Every point once, unless there were `kills` at them already, then again until there were
  // enough. `kill(point)`: whether it came by.
  static void at_each(const std::vector<std::string>& points,
                      const std::function<bool(const std::string&)>& kill,
                      std::uint64_t kills = 0) {
    const auto wanted = number_of("TRAINWARD_KILLS", 0);
    for (int round = kills > 0 ? 1 : 0; round == 0 || kills < wanted; ++round) {
      for (const std::string& point : points) {
        SCOPED_TRACE(fmt::format("{} in round {}", point, round));
        const bool reached = kill(point);
        // How often progress is noted, which counts as well, depends on the machine's speed.
        EXPECT_TRUE(reached || round > 0);
        if (reached) ++kills;
        if (HasFailure()) return;
      }
    }
    std::cout << kills << " kills\n";
  }
  void secret_file(const std::string& name, const std::string& text) {
    write(name, text);
    fs::permissions(path(name), fs::perms::owner_read | fs::perms::owner_write);
  }
};

TEST_F(Kills, ToAFolder) {
  int round = 0;
  at_each({"courier.ordered", "courier.leased", "courier.job", "courier.before_commit:3",
           "courier.after_commit:3", "upload.begun", "upload.opened", "upload.folder_synced",
           "upload.folder_synced:2", "upload.file_sent", "upload.file_sent:2", "upload.file_noted",
           "upload.file_noted:2", "upload.files_sent", "upload.published", "upload.latest",
           "upload.committed"},
          [&](const std::string& point) {
            fs::create_directory(path("nas"));
            record_checkpoint("state", 10'000 + static_cast<std::size_t>(++round % 16) * 77'777);
            const auto orders =
                orders_of("state", {{"nas", orders::FolderPlace{path("nas").string()}, {}}});
            const bool reached = ended_at(point, "state", orders);
            std::map<std::string, int> found;
            for (const auto& entry : fs::recursive_directory_iterator(path("nas"))) {
              if (entry.is_regular_file()) ++found[entry.path().filename().string()];
            }
            EXPECT_EQ(found, (std::map<std::string, int>{{"000000000010.step-00000010.json", 1},
                                                         {"latest.json", 1},
                                                         {"MANIFEST.json", 1},
                                                         {"model.safetensors", 1}}));
            fs::remove_all(path("state"));
            fs::remove_all(path("nas"));
            return reached;
          });
}

TEST_F(Kills, ToABucket) {
  secret_file("keys", std::string(FakeS3::key_id) + "\n" + FakeS3::secret + "\n");
  constexpr std::size_t two_parts = 70U << 20U;
  at_each(
      {"upload.begun", "upload.opened", "upload.multipart_begun", "upload.part_sent",
       "upload.part_sent:2", "upload.part_noted", "upload.part_noted:2", "upload.parts_sent",
       "upload.completed", "upload.file_sent", "upload.file_sent:2", "upload.file_noted",
       "upload.files_sent", "upload.published", "upload.latest", "upload.committed"},
      [&](const std::string& point) {
        FakeS3 server;
        record_checkpoint("state", two_parts);
        const orders::S3Place place{server.endpoint(), "bucket", "", "eu-1", path("keys").string()};
        const bool reached = ended_at(point, "state", orders_of("state", {{"bucket", place, {}}}));
        const auto objects = server.objects();
        const std::string model = "run/step-00000010/model.safetensors";
        EXPECT_EQ(objects.size(), 4U);
        EXPECT_TRUE(objects.contains(model) && objects.at(model).size() == two_parts);
        EXPECT_EQ(server.times_made("run/published/000000000010.step-00000010.json"), 1);
        EXPECT_EQ(server.times_made(model), 1);
        EXPECT_EQ(server.open_uploads(), 0U);
        fs::remove_all(path("state"));
        return reached;
      });
}

class HubKills : public Kills {
 protected:
  static constexpr const char* token = "hf_TestTokenThatMustNeverBeSeen0123456789";

  HubKills() {
    secret_file("token", token);
    secrets = {token, "SignatureOf"};
    // A commit that was cut off may come for a minute still. Here it has passed.
    between = [this] {
      auto db =
          store::Connection::open(path("state/courier.db"), store::Connection::Mode::read_write);
      if (!db) return;  // it did not come so far
      (void)(*db)->run("update upload_memory set value = value - 70000 where key like '%/commit'");
    };
  }

  // Whether it came by: at a named point, or at a request ("request 3", "answer 3").
  bool killed(const std::string& point) {
    FakeHub::Rules rules;
    rules.token = token;
    rules.chunk = 8'000;
    FakeHub hub(rules);
    const bool at_request = point.starts_with("request ");
    const bool at_answer = point.starts_with("answer ");
    const std::size_t number =
        at_request || at_answer ? std::stoul(point.substr(point.find(' ') + 1)) : 0;
    hub.before = [&](std::size_t at, const test::HttpRequest&) -> std::optional<test::HttpStep> {
      if (!at_request || at != number) return std::nullopt;
      ::kill(courier, SIGKILL);
      return test::HttpStep{.drop = true};
    };
    hub.after = [&](std::size_t at, const test::HttpRequest&, test::HttpStep& step) {
      if (!at_answer || at != number) return;
      ::kill(courier, SIGKILL);
      step = {.drop = true};
    };
    record_checkpoint("state", 30'000);
    orders::HubPlace place;
    place.repo = "me/run";
    place.token_file = path("token").string();
    place.endpoint = hub.endpoint();
    const bool named = !at_request && !at_answer;
    const bool reached =
        ended_at(named ? point : "", "state", orders_of("state", {{"hub", place, {}}}));
    EXPECT_EQ(hub.history("me/run").size(), 2U) << "the first of the repository, and ours";
    const std::string folder = "checkpoints/step-00000010/";
    EXPECT_EQ(hub.read("me/run", "main", folder + "MANIFEST.json"), "{}");
    const auto model = hub.read("me/run", "main", folder + "model.safetensors");
    EXPECT_EQ(model.value_or("").size(), 30'000U);
    EXPECT_EQ(hub.violations(), std::vector<std::string>{});
    fs::remove_all(path("state"));
    return reached;
  }
  // "NAME:1" and on, for as long as it comes by.
  std::vector<std::string> all_of(const std::string& name, char between, int first) {
    std::vector<std::string> points;
    for (int at = first; !HasFailure(); ++at) {
      points.push_back(fmt::format("{}{}{}", name, between, at));
      SCOPED_TRACE(points.back());
      if (killed(points.back())) continue;
      points.pop_back();
      break;
    }
    return points;
  }
};

// Every write of what it remembers, every request before it is carried out and after.
TEST_F(HubKills, AtEachWriteAndEachRequest) {
  std::vector<std::string> points{"courier.ordered", "courier.leased", "courier.job",
                                  "upload.begun",    "upload.opened",  "upload.committed"};
  for (const std::string& point : points) EXPECT_TRUE(killed(point)) << point;
  for (const auto& more :
       {all_of("courier.before_commit", ':', 1), all_of("courier.after_commit", ':', 1),
        all_of("request", ' ', 0), all_of("answer", ' ', 0)}) {
    EXPECT_GT(more.size(), 5U);
    points.insert(points.end(), more.begin(), more.end());
  }
  std::cout << points.size() << " places: ";
  at_each(
      points, [&](const std::string& point) { return killed(point); }, points.size());
}

// A script that saves while the daemon, the courier or both are ended, at random instants and at
// named places, with three targets at once.
class DaemonKills : public Boxes {
 protected:
  static constexpr const char* token = "hf_TestTokenThatMustNeverBeSeen0123456789";

  static pid_t courier_of(pid_t daemon) {
    std::error_code error;
    for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string stat = read_file(at->path() / "stat", 4096).value_or("");
      if (stat.find("(trainward-couri)") == std::string::npos) continue;
      const std::string after = stat.substr(std::min(stat.rfind(')') + 4, stat.size()));
      if (std::strtol(after.c_str(), nullptr, 10) == daemon) return std::stoi(name);
    }
    return 0;
  }
  [[nodiscard]] std::string targets(const FakeS3& bucket, const FakeHub& hub) const {
    return fmt::format(
        "{{nas: {{folder: {}}}, bucket: {{s3: {{endpoint: '{}', bucket: bucket, region: eu-1, "
        "credentials_file: {}}}}}, hub: {{hub: {{repo: me/run, token_file: {}, endpoint: "
        "'{}'}}}}}}",
        path("nas").string(), bucket.endpoint(), path("keys").string(), path("token").string(),
        hub.endpoint());
  }
  std::set<std::string> done() const {
    std::set<std::string> out;
    const auto rows = upload::uploads_json(path("box/state/courier.db"), "run", 10'000);
    for (const json::value& row : rows.value_or(json::array{})) {
      if (row.at("state") != "done") continue;
      out.insert(string_or(row.as_object(), "target", "") + " " +
                 string_or(row.as_object(), "checkpoint", ""));
    }
    return out;
  }
};

TEST_F(DaemonKills, EachArrivesOnceWhoeverIsEnded) {
  const auto kills = number_of("TRAINWARD_KILLS", 12);
  const auto seed = number_of("TRAINWARD_SEED", 7);
  std::mt19937_64 random(seed);
  const std::vector<std::string> points{
      "turn.before_commit:2",   "turn.after_commit:3", "courier.before_commit:2",
      "courier.after_commit:4", "upload.begun",        "upload.opened",
      "upload.file_sent",       "upload.files_sent",   "upload.published",
      "upload.latest",          "upload.committed"};
  FakeS3 bucket;
  FakeHub hub;
  fs::create_directory(path("nas"));
  write("keys", std::string(FakeS3::key_id) + "\n" + FakeS3::secret + "\n");
  write("token", token);
  for (const char* name : {"keys", "token"}) {
    fs::permissions(path(name), fs::perms::owner_read | fs::perms::owner_write);
  }
  const int last = static_cast<int>(40 * kills);
  make_box("box", last, false, targets(bucket, hub), "sleep 0.02");

  for (std::uint64_t i = 0; i < kills; ++i) {
    const bool named = random() % 2 == 0;
    if (named) ::setenv("TRAINWARD_FAULT", points[random() % points.size()].c_str(), 1);
    const pid_t daemon = start_daemon({"box/run.yaml"});
    ::unsetenv("TRAINWARD_FAULT");
    ::poll(nullptr, 0, static_cast<int>(random() % 1'500));
    if (const pid_t courier = courier_of(daemon); courier > 0 && random() % 2 == 0) {
      ::kill(courier, SIGKILL);
      ::poll(nullptr, 0, static_cast<int>(random() % 100));
    }
    ::kill(daemon, SIGKILL);
    EXPECT_EQ(end_of(daemon), -SIGKILL);
  }
  const pid_t daemon = start_daemon({"box/run.yaml"});
  const std::string newest = fmt::format("model_step{}.bin", last);
  wait_until([&] {
    const auto all = done();
    return all.contains("nas " + newest) && all.contains("bucket " + newest) &&
           all.contains("hub " + newest);
  });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();

  const auto all = done();
  std::size_t in_bucket = 0;
  for (const auto& [key, text] : bucket.objects()) {
    if (!key.starts_with("run/published/")) continue;
    ++in_bucket;
    EXPECT_EQ(bucket.times_made(key), 1) << key;
    const std::string name = key.substr(key.find("model_"), key.rfind('.') - key.find("model_"));
    // A file that is sent at once may be sent again before anybody believes in it.
    EXPECT_EQ(bucket.objects().at(fmt::format("run/{0}/{0}", name)),
              read_file(path("box/out/" + name), 100).value_or(""));
  }
  EXPECT_EQ(bucket.open_uploads(), 0U);
  std::size_t in_folder = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path("nas"))) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(name.starts_with(".trainward-part-")) << name;
    if (entry.path().parent_path().filename() != "published") continue;
    ++in_folder;
    const std::string file = name.substr(name.find('.') + 1, name.rfind('.') - name.find('.') - 1);
    const auto sent = read_file(path(fmt::format("nas/run/{0}/{0}", file)), 100);
    ASSERT_TRUE(sent) << name << ": " << sent.error().message();
    EXPECT_EQ(*sent, read_file(path("box/out/" + file), 100).value_or("")) << file;
  }
  std::map<std::string, int> commits;
  for (const auto& commit : hub.history("me/run")) ++commits[commit.summary];
  for (const auto& [summary, times] : commits) EXPECT_EQ(times, 1) << summary;
  EXPECT_TRUE(hub.read("me/run", "main", "checkpoints/" + newest + "/" + newest));
  EXPECT_EQ(hub.violations(), std::vector<std::string>{});
  // What is on record as done is there.
  for (const std::string& one : all) {
    const std::string name = one.substr(one.find(' ') + 1);
    if (one.starts_with("bucket ")) {
      EXPECT_TRUE(bucket.objects().contains(fmt::format("run/{0}/{0}", name))) << name;
    }
    if (one.starts_with("hub ")) {
      EXPECT_EQ(commits.count(fmt::format("{} (step {})", name, name.substr(10, name.size() - 14))),
                1U)
          << name;
    }
  }
  EXPECT_EQ(daemon_log().find(token), std::string::npos);
  EXPECT_EQ(daemon_log().find(FakeS3::secret), std::string::npos);
  std::cout << kills << " kills, seed " << seed << ": " << in_folder << " in the folder, "
            << in_bucket << " in the bucket, " << commits.size() - 1 << " commits\n";
}

}  // namespace
}  // namespace trainward::e2e
