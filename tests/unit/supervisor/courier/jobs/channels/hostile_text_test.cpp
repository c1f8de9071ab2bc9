// Whatever stands in a log, a name or a reason: no form is invalid, unbounded or says more than one
// thing.
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "common/base/random.hpp"
#include "common/base/utf8.hpp"
#include "messages.hpp"
#include "shell.hpp"
#include "supervisor/courier/forms/escape.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {
namespace {

using testing::HasSubstr;
using testing::Not;

// Random bytes, mixed with what receivers give a meaning to.
std::string hostile(SplitMix64& random, std::size_t most) {
  static const std::vector<std::string> bits = {"\r\n",      "\nBcc: x@y",
                                                "```",       "<!channel>",
                                                "@everyone", "&amp;",
                                                "\xff\xfe",  "\"",
                                                "\\",        "\x1b[31m",
                                                "</code>",   "=?UTF-8?B?",
                                                "%0a",       "é",
                                                "漢字",      "😀",
                                                "\u202e",    std::string(1, '\0'),
                                                ".\n",       "[a](http://b)",
                                                "*_~|",      "<script>"};
  std::string out;
  const std::size_t size = random.below(most);
  while (out.size() < size) {
    if (random.below(3) == 0) {
      out += bits[random.below(bits.size())];
    } else {
      out += static_cast<char>(random.below(256));
    }
  }
  return out;
}

Message hostile_message(SplitMix64& random) {
  MessageFacts row;
  row.id = static_cast<std::int64_t>(random.below(1ULL << 62U));
  row.at_ms = epoch_ms;
  row.episode = random.below(2) == 0 ? 0 : 5;
  row.program = hostile(random, 400);
  row.tier = random.below(2) == 0 ? "critical" : hostile(random, 20);
  row.kind = random.below(2) == 0 ? "crashed" : hostile(random, 20);
  row.title = hostile(random, 600);
  json::array lines;
  for (int i = 0; i < 14; ++i) lines.emplace_back(valid_utf8(hostile(random, 900)));
  json::object fields;
  for (int i = 0; i < 60; ++i) {
    fields[valid_utf8(hostile(random, 90))] = valid_utf8(hostile(random, 3000));
  }
  std::string body = json::serialize(json::object{{"text", valid_utf8(hostile(random, 30'000))},
                                                  {"fields", std::move(fields)},
                                                  {"lines", std::move(lines)},
                                                  {"resolves", random.below(2) == 0},
                                                  {"started_ms", -5}});
  if (random.below(8) == 0) body.resize(random.below(body.size()));
  Message message =
      message_of(row, body, {hostile(random, 300), hostile(random, 20)}, random.below(4) != 0);
  message.more_count = static_cast<std::int64_t>(random.below(40));
  while (message.more.size() < std::min<std::size_t>(most_more, message.more_count)) {
    message.more.push_back(cut(printable(hostile(random, 300)), longest_title));
  }
  return message;
}

constexpr int rounds = 400;

TEST(HostileText, EveryRequestIsValidJsonWithinItsBounds) {
  SplitMix64 random(19);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const Message message = hostile_message(random);
    const Values values = some_values();
    const auto check = [&](const Result<Call>& call, std::size_t most) {
      const auto request = request_of(call);
      json_of(body_of(request));
      EXPECT_LE(body_of(request).size(), most);
      EXPECT_TRUE(is_utf8(body_of(request)));
      for (const net::Header& header : request.headers) {
        EXPECT_EQ(header.value.find_first_of("\r\n"), std::string::npos) << header.name;
      }
      EXPECT_EQ(request.url.find_first_of("\r\n \""), std::string::npos) << request.url;
      return json_of(body_of(request));
    };
    check(webhook_call(message, values, epoch_ms), 20'000);
    const auto ntfy = check(ntfy_call(message, values), 20'000);
    EXPECT_LE(ntfy.at("message").get_string().size(), 4096U);
    const auto slack = check(slack_call(message, values), 30'000);
    for (const json::value& block : slack.at("blocks").get_array()) {
      const auto text = view(block.at("text").at("text").get_string());
      EXPECT_LE(text.size(), 3000U);
      // An '&' is always the beginning of an escape that is whole.
      for (auto at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
        const auto rest = text.substr(at);
        EXPECT_TRUE(rest.starts_with("&amp;") || rest.starts_with("&lt;") ||
                    rest.starts_with("&gt;"));
      }
      EXPECT_THAT(std::string(text), Not(HasSubstr("<")));
    }
    const auto discord = check(discord_call(message, values), 30'000);
    const auto& embed = discord.at("embeds").at(0).get_object();
    std::size_t all =
        embed.at("title").get_string().size() + embed.at("description").get_string().size();
    EXPECT_LE(discord.at("content").get_string().size(), 2000U);
    EXPECT_LE(embed.at("title").get_string().size(), 256U);
    EXPECT_LE(embed.at("description").get_string().size(), 4096U);
    if (const auto fields = get_array(embed, "fields")) {
      for (const json::value& field : **fields) {
        EXPECT_LE(field.at("value").get_string().size(), 1024U);
        EXPECT_FALSE(field.at("value").get_string().empty());
        all += field.at("name").get_string().size() + field.at("value").get_string().size();
      }
    }
    EXPECT_LE(all, 6000U);
    const auto matrix = check(matrix_call(message, values), 65'000);
    EXPECT_THAT(std::string(matrix.at("formatted_body").get_string()), Not(HasSubstr("<script")));
    EXPECT_LE(check(telegram_call(message, values), 20'000).at("text").get_string().size(), 4096U);
    const json::object raised = alert_of(message);
    const std::string alert = json::serialize(raised);
    json_of(alert);
    EXPECT_LE(alert.size(), 24'000U);
    for (const auto& [name, value] : raised.at("labels").get_object()) {
      EXPECT_FALSE(value.get_string().empty()) << std::string_view(name);
    }
  }
}

TEST(HostileText, AMailHasTheHeadersItIsToHaveAndNoOther) {
  SplitMix64 random(20);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const Message message = hostile_message(random);
    Values values = some_values();
    values.texts["from"] = hostile(random, 60);
    const std::string mail = program_of(mail_call(message, values, epoch_ms)).input;
    EXPECT_EQ(mail.find('\0'), std::string::npos);
    EXPECT_EQ(mail.find('\r'), std::string::npos);
    std::string_view rest = mail;
    const std::string_view known =
        " From To Subject Date Message-ID In-Reply-To References "
        "Auto-Submitted Importance X-Priority MIME-Version Content-Type "
        "Content-Transfer-Encoding ";
    bool in_head = true;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      EXPECT_LE(line.size(), 998U);
      if (!in_head) continue;
      if (line.empty()) {
        in_head = false;
        continue;
      }
      if (line.starts_with(' ')) continue;  // goes on
      const std::string name = " " + std::string(line.substr(0, line.find(':'))) + " ";
      EXPECT_NE(known.find(name), std::string_view::npos) << line;
    }
    EXPECT_FALSE(in_head);
  }
}

TEST(HostileText, ProgramsGetNoZeroBytesAndJson) {
  SplitMix64 random(21);
  for (int round = 0; round < rounds; ++round) {
    const ProgramCall call = program_of(command_call(hostile_message(random), some_values()));
    json_of(call.input);
    EXPECT_LE(call.input.size(), 64'001U);
    for (const auto& [name, value] : call.environment) {
      EXPECT_EQ(value.find('\0'), std::string::npos) << name;
      EXPECT_LE(value.size(), 10'000U);
    }
  }
}

TEST(HostileText, IsNeverCutInsideOfACharacterOrAnEscape) {
  SplitMix64 random(22);
  for (int round = 0; round < rounds; ++round) {
    const std::string text = hostile(random, 300);
    for (std::size_t most = 0; most < 40; ++most) {
      EXPECT_LE(cut(text, most).size(), most);
      EXPECT_TRUE(is_utf8(cut(text, most)));
      const std::string html = escaped(text, most, html_character);
      EXPECT_LE(html.size(), most);
      EXPECT_TRUE(is_utf8(html));
      const auto amp = html.rfind('&');
      if (amp != std::string::npos) {
        EXPECT_NE(html.find(';', amp), std::string::npos) << html;
      }
    }
  }
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdefg", 6), "abc…");
}

// Read back by a program that had no part in writing it.
TEST(HostileText, ASubjectIsReadBackByPython) {
  if (test::shell("python3 -c 'import email' 2>&1").code != 0) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  Message message = a_message();
  message.title = "Läufer: 漢字 ended, given up — " + std::string(80, 'x') + " ☃ end";
  folder.write("mail", program_of(mail_call(message, some_values(), epoch_ms)).input);
  folder.write("read.py",
               "import email, email.policy, sys\n"
               "m = email.message_from_bytes(open(sys.argv[1], 'rb').read(), "
               "policy=email.policy.default)\n"
               "print(m['Subject'])\n"
               "print(len(m['To'].addresses), m['References'], not m.defects)\n"
               "print(m.get_content().splitlines()[0])\n");
  const auto read =
      test::shell("PYTHONIOENCODING=utf-8 python3 " + (folder.path() / "read.py").string() + " " +
                  (folder.path() / "mail").string() + " 2>&1");
  EXPECT_EQ(read.output,
            message.title + "\n2 <episode_0a1b2c3d4e5f_77@gpu-box> True\n" + message.title + "\n");
}

}  // namespace
}  // namespace trainward::courier
