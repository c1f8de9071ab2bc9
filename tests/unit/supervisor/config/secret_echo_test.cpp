// Whatever somebody writes where, no message repeats a secret: addresses and tokens in every
// position of the sections that may hold one, also where a key, a name or a list belongs.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "fixture.hpp"

namespace trainward::config {
namespace {

using testing::HasSubstr;
using testing::Not;

// The part that must not be seen, in what people paste.
const std::string core = "Hq7Zk2Vw9Xb4";
const std::vector<std::string> pasted = {
    "https://hooks.slack.com/services/T0/B0/" + core,
    "https://me:" + core + "@host.example/x",
    "https://example.org/?key=" + core,
    "123456:AAE-" + core,
    "tk_" + core,
    "whsec_" + core + core,
    "hf_" + core + core,
    core + core,
    core,
};

class SecretEcho : public ConfigTest {
 protected:
  void expect_unseen(const std::string& text, const std::vector<std::string>& overrides = {}) {
    const auto loaded = load_text(text, overrides);
    const auto look = [&](const std::vector<Problem>& said) {
      for (const Problem& problem : said) {
        EXPECT_THAT(problem.text(), Not(HasSubstr(core))) << text;
      }
    };
    if (loaded) return;  // then the commands show it as it was written: what it is called is public
    look(loaded.error());
    ++refused_;
  }
  int refused_ = 0;
};

TEST_F(SecretEcho, NothingIsRepeatedOfWhatStandsInAWrongPlace) {
  const std::string program = "programs:\n  a:\n    command: [/bin/true]\n";
  const std::vector<std::string> notify = {
      "notify: '@'\n",
      "notify: ['@']\n",
      "notify: {quiet: '@'}\n",
      "notify: {digest: '@'}\n",
      "notify: {hold: '@'}\n",
      "notify: {page: ['@']}\n",
      "notify: {'@': x}\n",
      "notify: {slack: '@'}\n",
      "notify: {channels: '@'}\n",
      "notify: {channels: ['@']}\n",
      "notify: {channels: {'@': {}}}\n",
      "notify: {channels: {'@': x}}\n",
      "notify: {channels: {n: '@'}}\n",
      "notify: {channels: {n: ['@']}}\n",
      "notify: {channels: {n: {'@': x}}}\n",
      "notify: {channels: {n: {type: slack, url: '@'}}}\n",
      "notify: {channels: {n: {mail: '@'}}}\n",
      "notify: {channels: {n: {mail: {to: '@', from: '@', sendmail: '@'}}}}\n",
      "notify: {channels: {n: {command: '@'}}}\n",
      "notify: {channels: {n: {command: ['@']}}}\n",
      "notify: {channels: {n: {slack: {url_file: x.url}, tiers: ['@'], log_lines: '@'}}}\n",
      "notify: {channels: {n: {slack: {url_file: x.url}, tiers: '@'}}}\n",
      "notify: {channels: {n: {ping: {url_file: x.url, every: '@', form: '@'}}}}\n",
      "notify: {channels: {n: {matrix: {server: '@', room: '@', token: '@'}}}}\n",
      "notify: {channels: {n: {telegram: {token: '@', chat: '@', bot_token: '@'}}}}\n",
      "notify: {channels: {n: {ntfy: {topic: '@', server: '@', token_file: '@'}}}}\n",
      "tokens: '@'\n",
      "tokens: {'@': x}\n",
      "tokens: {viewer: {'@': x}}\n",
  };
  std::vector<std::string> texts;
  for (const std::string& one : notify) texts.push_back(program + one);
  for (const char* kind :
       {"webhook", "ntfy", "slack", "discord", "matrix", "telegram", "alertmanager", "ping"}) {
    for (const char* value : {"'@'", "['@']", "{'@': x}", "{url: '@'}", "{url: ['@']}",
                              "{token: {a: '@'}}", "{url_file: ['@']}", "{topic: '@'}"}) {
      texts.push_back(program + "notify: {channels: {n: {" + kind + ": " + value + "}}}\n");
    }
  }
  for (const char* value :
       {"upload: '@'",
        "upload: ['@']",
        "upload: {'@': x}",
        "upload: {targets: '@'}",
        "upload: {targets: ['@']}",
        "upload: {targets: {'@': {}}}",
        "upload: {targets: {t: '@'}}",
        "upload: {targets: {t: {'@': x}}}",
        "upload: {targets: {t: {hub: '@'}}}",
        "upload: {targets: {t: {s3: '@'}}}",
        "upload: {targets: {t: {hub: {repo: '@'}}}}",
        "upload: {targets: {t: {hub: {repo: a/b, token: '@', form: '@', history: '@'}}}}",
        "upload: {targets: {t: {hub: {repo: a/b, private: '@', endpoint: '@'}}}}",
        "upload: {targets: {t: {folder: ['@']}}}",
        "upload: {window: '@', targets: {}}",
        "upload: {targets: {t: {s3: {endpoint: '@', bucket: '@', prefix: '@', region: '@'}}}}",
        "upload: {targets: {t: {hub: {repo: a/b, token_file: ['@']}}}}",
        "upload: {every: '@', bandwidth: '@', every_steps: '@', targets: {t: {folder: /x}}}",
        "tracking: '@'",
        "tracking: {'@': x}",
        "tracking: {mlflow: ['@']}",
        "tracking: {mlflow: {url: ['@'], token_file: ['@']}}",
        "environment: '@'",
        "environment: ['@']",
        "environment: {'@-': x}"}) {
    texts.push_back(program + "    " + value + "\n");
  }
  for (const std::string& text : texts) {
    for (const std::string& secret : pasted) {
      // What may be a name is the name of a channel or target there, and is shown as such.
      const bool names = text.find("channels: {'@'") != std::string::npos ||
                         text.find("targets: {'@'") != std::string::npos;
      if (names && secret.find(':') == std::string::npos) continue;
      if (text.find("{'@-'") != std::string::npos && secret == core) continue;
      std::string filled = text;
      for (auto at = filled.find('@'); at != std::string::npos;
           at = filled.find('@', at + secret.size())) {
        filled.replace(at, 1, secret);
      }
      expect_unseen(filled);
    }
  }
  EXPECT_GT(refused_, 600) << "else nothing was said of them";
}

TEST_F(SecretEcho, NorWhereItIsSetOnTheCommandLine) {
  const std::string text = "programs: {a: {command: [/bin/true]}}\n";
  for (const std::string& secret : pasted) {
    for (const char* key : {"notify", "notify.channels", "notify.channels.n",
                            "notify.channels.n.slack", "programs.a.upload.targets.t.hub"}) {
      expect_unseen(text, {std::string(key) + "=" + secret});
    }
    expect_unseen(text + "notify: {channels: {n: {slack: '" + secret + "'}}}\n",
                  {"notify.channels.n.slack.url_file=x"});
  }
  EXPECT_GT(refused_, 40);
}

TEST_F(SecretEcho, TheRightLineIsSaidInstead) {
  const auto list = problems(
      "programs: {a: {command: [/bin/true]}}\nnotify: {channels: {n: {slack: 'https://x/y'}}}\n");
  ASSERT_FALSE(list.empty());
  EXPECT_THAT(list.front(), HasSubstr("notify.channels.n.slack: expected a map of keys"));
  EXPECT_THAT(list.front(), HasSubstr("{url_file: PATH}"));
  EXPECT_EQ(list.size(), 1U);
}

}  // namespace
}  // namespace trainward::config
