// notify.channels: what is taken, what is refused with its place, and that no message ever has a
// secret in it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fixture.hpp"

namespace trainward::config {
namespace {

using orders::ChannelKind;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const std::string one_program = "programs: {a: {command: [/bin/true]}}\n";
const std::string password = "hunter2Hunter2Hunter2";

class Channels : public ConfigTest {
 protected:
  void private_file(const std::string& name, mode_t mode = 0600) const {
    write(name, password + "\n");
    ASSERT_EQ(::chmod((folder_ / name).c_str(), mode), 0);
  }
  std::vector<orders::Channel> taken(const std::string& channels) const {
    const auto config = load_text(one_program + "notify:\n  channels:\n" + channels);
    if (!config) ADD_FAILURE() << config.error().front().text();
    return config ? config->channels : std::vector<orders::Channel>();
  }
  std::vector<std::string> found(const std::string& channel) const {
    auto list = problems(one_program + "notify: {channels: {night: " + channel + "}}\n");
    for (const std::string& problem : list) EXPECT_THAT(problem, Not(HasSubstr("unter2")));
    EXPECT_THAT(list, Not(IsEmpty())) << channel;
    return list;
  }
};

TEST_F(Channels, NoneUnlessThereAre) { EXPECT_THAT(load_text(one_program)->channels, IsEmpty()); }

TEST_F(Channels, EveryKindAsItIsWritten) {
  private_file("s");
  const auto channels = taken(R"(
    hook: {webhook: {url: https://ops.example/trainward, secret_file: s}, tiers: [critical]}
    night: {ntfy: {topic_file: s, server: https://ntfy.example}, tiers: [critical, warning]}
    slack: {slack: {url_file: s}, log_lines: false}
    discord: {discord: {url: env:DISCORD_URL}}
    matrix: {matrix: {server: https://matrix.org, room: '!abc:matrix.org', token_file: s}}
    telegram: {telegram: {token_file: s, chat: '-100123'}}
    alerts: {alertmanager: {url: http://127.0.0.1:9093}}
    mail: {mail: {to: [me@example.org, you@example.org], from: box@example.org}}
    short: {mail: me@example.org}
    pager: {command: [/usr/local/bin/page, --who, me]}
    alive: {ping: {url_file: s, every: 5min, progress_within: 2h}}
)");
  ASSERT_THAT(channels, SizeIs(11));
  EXPECT_EQ(channels[0].texts.at("url"), "https://ops.example/trainward");
  EXPECT_EQ(channels[0].secrets.at("secret").file, folder_ / "s");
  EXPECT_THAT(channels[0].tiers, ElementsAre("critical"));
  EXPECT_EQ(channels[1].kind, ChannelKind::ntfy);
  EXPECT_EQ(channels[1].texts.at("server"), "https://ntfy.example");
  EXPECT_FALSE(channels[2].log_lines);
  EXPECT_THAT(channels[2].tiers, ElementsAre("critical", "warning", "info"));
  EXPECT_EQ(channels[3].secrets.at("url").variable, "DISCORD_URL");
  EXPECT_EQ(channels[5].texts.at("server"), "https://api.telegram.org");
  EXPECT_THAT(channels[7].words.at("to"), ElementsAre("me@example.org", "you@example.org"));
  EXPECT_EQ(channels[7].texts.at("sendmail"), "/usr/sbin/sendmail");
  EXPECT_THAT(channels[8].words.at("to"), ElementsAre("me@example.org"));
  EXPECT_THAT(channels[9].words.at("run"), ElementsAre("/usr/local/bin/page", "--who", "me"));
  EXPECT_EQ(channels[10].durations_ms.at("every"), 300'000);
  EXPECT_EQ(channels[10].durations_ms.at("progress_within"), 7'200'000);
  EXPECT_EQ(channels[10].texts.at("form"), "healthchecks");
}

TEST_F(Channels, SecretsInTheConfigurationAreRefusedAndNotRepeated) {
  for (const std::string& channel : std::vector<std::string>{
           "{ntfy: {topic: " + password + "}}",
           "{slack: {url: https://hooks.slack.com/" + password + "}}",
           "{discord: {url: https://discord.com/api/webhooks/1/" + password + "}}",
           "{webhook: {url: 'https://me:" + password + "@host/x'}}",
           "{webhook: {url: 'https://host/x?key=" + password + "'}}",
           "{webhook: {url: https://host/" + password + "}}",
           "{webhook: {url: https://host/x, secret: whsec_" + password + "}}",
           "{telegram: {token: '" + password + "', chat: '5'}}"}) {
    EXPECT_THAT(found(channel).front(), HasSubstr("file of mode 600")) << channel;
  }
  EXPECT_THAT(found("{slack: {url_file: https://hooks.slack.com/" + password + "}}").front(),
              HasSubstr("looks like the secret itself"));
}

TEST_F(Channels, FilesOthersMayReadAreRefusedAndMissingOnesNoted) {
  private_file("open", 0644);
  EXPECT_THAT(found("{slack: {url_file: open}}").front(), HasSubstr("chmod 600"));
  const auto config =
      load_text(one_program + "notify: {channels: {night: {slack: {url_file: not-yet}}}}\n");
  ASSERT_TRUE(config);
  EXPECT_THAT(config->notes,
              Contains(Field(&Problem::message, HasSubstr("not-yet: is not there yet"))));
  EXPECT_THAT(found("{slack: {url_file: work}}").front(), HasSubstr("is not a file"));
}

TEST_F(Channels, ACredentialOfTheServiceComesFirst) {
  private_file("data/s");
  ::setenv("CREDENTIALS_DIRECTORY", (folder_ / "data").c_str(), 1);
  const auto channels = taken("    night: {slack: {url_file: s}}\n");
  ::unsetenv("CREDENTIALS_DIRECTORY");
  ASSERT_THAT(channels, SizeIs(1));
  EXPECT_EQ(channels[0].secrets.at("url").file, folder_ / "data" / "s");
}

TEST_F(Channels, WhatIsWrongIsSaidWithItsPlaceAndTheNextStep) {
  private_file("s");
  const auto first = [&](const std::string& channel) { return found(channel).front(); };
  EXPECT_THAT(first("{pigeon: {}}"), HasSubstr("expected one of webhook, ntfy, slack"));
  EXPECT_THAT(first("{type: slack, api_url: x}"), HasSubstr("the kind is a key of the channel"));
  EXPECT_THAT(first("{slack: {webhook_url: x}}"), HasSubstr("url_file"));
  EXPECT_THAT(first("{slack: {url_file: s}, ntfy: {topic_file: s}}"),
              HasSubstr("a channel is of one kind"));
  EXPECT_THAT(first("{slack: {}}"), HasSubstr("missing key 'url_file'"));
  EXPECT_THAT(first("{slack: {url_file: s, url: env:X}}"), HasSubstr("write one of them"));
  EXPECT_THAT(first("{slack: {url_file: s}, tiers: [loud]}"), HasSubstr("critical, warning, info"));
  EXPECT_THAT(first("{slack: {url_file: s}, tiers: []}"), HasSubstr("critical, warning, info"));
  EXPECT_THAT(first("{slack: {url_file: s}, tier: [info]}"), HasSubstr("did you mean 'tiers'"));
  EXPECT_THAT(first("{ping: {url_file: s}, tiers: [info]}"), HasSubstr("has no tiers"));
  EXPECT_THAT(first("{ping: {url_file: s, form: nagios}}"), HasSubstr("uptime-kuma"));
  EXPECT_THAT(first("{ping: {url_file: s, every: 5s}}"), HasSubstr("every"));
  EXPECT_THAT(first("{matrix: {server: https://m.org, room: '#a:b', token_file: s}}"),
              HasSubstr("room settings"));
  EXPECT_THAT(first("{telegram: {token_file: s, chat: me}}"), HasSubstr("'-1001234'"));
  EXPECT_THAT(first("{alertmanager: {url: '127.0.0.1:9093'}}"), HasSubstr("https:// or http://"));
  EXPECT_THAT(first("{command: page}"), HasSubstr("expected a list"));
  EXPECT_THAT(first("{command: [page]}"), HasSubstr("absolute path"));
  for (const char* address : {"me", "-x@y", "'a@b, c@d'", "'a@b\\nBcc: c@d'", "'<a@b>'", "a@b@c"}) {
    EXPECT_THAT(first("{mail: {to: [" + std::string(address) + "]}}"),
                HasSubstr("expected addresses"))
        << address;
  }
  EXPECT_THAT(problems(one_program + "notify: {channels: {'a b': {mail: a@b.c}}}\n").front(),
              StartsWith("2:21: notify.channels: a channel's name is"));
}

// ---- docs/messenger.md says what the table says ----

std::string messenger_page() {
  std::ifstream in(std::string(SOURCE_FOLDER) + "/docs/messenger.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(Channels, EveryExampleOfThePageIsTaken) {
  const std::string whole = messenger_page();
  const std::string_view page = whole;
  std::set<std::string_view> shown;
  constexpr std::string_view begin = "```yaml\nnotify:\n  channels:\n";
  for (auto at = page.find(begin); at != std::string_view::npos; at = page.find(begin, at + 1)) {
    const auto from = at + std::string_view("```yaml\n").size();
    const std::string example(page.substr(from, page.find("```", from) - from));
    const auto config = load_text(one_program + example);
    ASSERT_TRUE(config) << config.error().front().text() << "\n" << example;
    for (const auto& channel : config->channels) shown.insert(orders::facts(channel.kind).name);
  }
  EXPECT_THAT(shown, SizeIs(orders::channel_kinds.size())) << "an example for each kind";
}

TEST_F(Channels, ThePageHasARowForEachKindWithItsKeys) {
  const std::string page = messenger_page();
  for (const auto& kind : orders::channel_kinds) {
    const auto at = page.find("\n| `" + std::string(kind.name) + "` |");
    ASSERT_NE(at, std::string::npos) << kind.name;
    const std::string row = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
    for (const auto& key : kind.keys) {
      const std::string name(key.type == orders::KeyType::secret ? key.file_name : key.name);
      EXPECT_THAT(row, HasSubstr((key.required ? "**`" : "`") + name + "`"));
      if (!key.fallback.empty()) {
        EXPECT_THAT(row, HasSubstr("`" + std::string(key.fallback) + "`"));
      }
    }
  }
}

}  // namespace
}  // namespace trainward::config
