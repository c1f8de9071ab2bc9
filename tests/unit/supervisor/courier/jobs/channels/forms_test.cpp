// What each kind of channel is sent, against what its documentation says.
#include <gmock/gmock.h>

#include <string>

#include "common/base/text.hpp"
#include "messages.hpp"
#include "supervisor/courier/forms/answer.hpp"
#include "supervisor/courier/forms/form_signature.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Forms, WebhookIsADocumentWithItsIdAndASignatureOfWhatIsSent) {
  Values values = some_values();
  values.texts["secret"] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const auto request = request_of(webhook_call(a_message(), values, epoch_ms + 5'000));
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://hooks.example/T000/B000/XXXX");
  EXPECT_EQ(request.most_redirects, 0);
  EXPECT_EQ(header_of(request, "Content-Type"), "application/json");
  EXPECT_EQ(header_of(request, "webhook-id"), "msg_0a1b2c3d4e5f_1764000000000");
  EXPECT_EQ(header_of(request, "webhook-timestamp"), "1764000005");
  EXPECT_EQ(header_of(request, "webhook-signature"),
            signatures(*signing_keys(values.texts["secret"]), "msg_0a1b2c3d4e5f_1764000000000",
                       "1764000005", body_of(request)));
  const json::object document = json_of(body_of(request));
  EXPECT_EQ(document.at("type"), "trainward.gave_up");
  EXPECT_EQ(document.at("timestamp"), "2025-11-24T16:00:00.000Z");
  const json::object& data = document.at("data").get_object();
  EXPECT_EQ(data.at("cause"), "device_oom");
  EXPECT_EQ(data.at("attempt"), 12);
  EXPECT_EQ(data.at("tier"), "critical");
  EXPECT_EQ(data.at("program"), "trainer");
  EXPECT_EQ(data.at("host"), "gpu-box");
  EXPECT_EQ(data.at("lines").get_array().size(), 2U);
  EXPECT_EQ(header_of(request_of(webhook_call(a_message(), some_values(), 0)), "webhook-signature"),
            "");
}

TEST(Forms, NtfyHasItsTopicInTheBody) {
  const auto request = request_of(ntfy_call(a_message(), some_values()));
  EXPECT_EQ(request.url, "https://chat.example/");
  EXPECT_EQ(header_of(request, "Authorization"), "Bearer tk_abc");
  const json::object body = json_of(body_of(request));
  EXPECT_EQ(body.at("topic"), "my-topic");
  EXPECT_EQ(body.at("title"), "trainer: device_oom, given up (FATAL)");
  EXPECT_EQ(body.at("priority"), 5);
  EXPECT_THAT(std::string(body.at("message").get_string()),
              StartsWith("attempt 12 ended: device_oom.\nLost: 41 steps."));
}

TEST(Forms, SlackIsEscapedSections) {
  const auto request = request_of(slack_call(a_message(), some_values()));
  const json::object body = json_of(body_of(request));
  EXPECT_EQ(body.at("text"), "trainer: device_oom, given up (FATAL)");
  const json::array& blocks = body.at("blocks").get_array();
  ASSERT_EQ(blocks.size(), 3U);
  const std::string code(blocks[2].at("text").at("text").get_string());
  EXPECT_EQ(code, "```step 3241\nOut of Memory: &lt;tried&gt; &amp; 'failed'```");
}

TEST(Forms, DiscordWaitsAndMentionsNobody) {
  Message message = a_message();
  message.title = "@everyone [look](http://x) **now**";
  const auto request = request_of(discord_call(message, some_values()));
  EXPECT_THAT(request.url, testing::EndsWith("?wait=true"));
  const json::object body = json_of(body_of(request));
  EXPECT_EQ(body.at("allowed_mentions").at("parse").get_array().size(), 0U);
  const std::string content(body.at("content").get_string());
  EXPECT_THAT(content, Not(HasSubstr("@everyone")));
  EXPECT_THAT(content, HasSubstr("\\[look\\]\\(http"));
  EXPECT_THAT(content, HasSubstr("\\*\\*now\\*\\*"));
  Values thread = some_values();
  thread.texts["url"] += "?thread_id=5";
  EXPECT_THAT(request_of(discord_call(message, thread)).url,
              testing::EndsWith("?thread_id=5&wait=true"));
}

TEST(Forms, MatrixIsPutUnderAnIdThatStays) {
  const auto request = request_of(matrix_call(a_message(), some_values()));
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.url,
            "https://chat.example/_matrix/client/v3/rooms/%21abc%3Achat.example/send/"
            "m.room.message/msg_0a1b2c3d4e5f_1764000000000");
  const json::object body = json_of(body_of(request));
  EXPECT_EQ(body.at("msgtype"), "m.text");
  EXPECT_THAT(std::string(body.at("formatted_body").get_string()),
              HasSubstr("Out of Memory: &lt;tried&gt; &amp; `failed`"));
  EXPECT_EQ(body.at("m.mentions"), json::object()) << "nobody";
  Message quiet = a_message();
  quiet.tier = "info";
  EXPECT_EQ(json_of(body_of(request_of(matrix_call(quiet, some_values())))).at("msgtype"),
            "m.notice");
}

TEST(Forms, MatrixWakesNoRoomForALineOfALog) {
  Message message = a_message();
  message.title = "@room: given up";
  message.text = "mail me@roomy.example\n@Room";
  message.lines = {"hey @ROOM", "@alice:chat.example"};
  for (const Message& one : {message, in_plain(message)}) {
    const json::object body = json_of(body_of(request_of(matrix_call(one, some_values()))));
    for (const auto& [key, value] : body) {
      if (value.is_string()) {
        EXPECT_THAT(lower_case(std::string(value.get_string())), Not(HasSubstr("@room"))) << key;
      }
    }
    EXPECT_EQ(body.at("m.mentions"), json::object());
  }
}

TEST(Forms, ThePlainestHasNothingThatItCanDoWithout) {
  Message message = a_message();
  message.title = "trainer: \u2603 given up";
  message.text = std::string(3'000, 'x');
  message.more_count = 3;
  message.more = {"one"};
  const Message plain = in_plain(message);
  EXPECT_EQ(plain.title, "trainer: ? given up");
  EXPECT_LT(plain.text.size(), 600U);
  EXPECT_THAT(plain.text, HasSubstr("And 3 more."));
  const Values values = some_values();
  EXPECT_EQ(json_of(body_of(request_of(slack_call(plain, values)))).size(), 1U);
  EXPECT_FALSE(json_of(body_of(request_of(discord_call(plain, values)))).contains("embeds"));
  EXPECT_FALSE(json_of(body_of(request_of(ntfy_call(plain, values)))).contains("title"));
  EXPECT_FALSE(json_of(body_of(request_of(matrix_call(plain, values)))).contains("formatted_body"));
  const auto hook = request_of(webhook_call(plain, values, epoch_ms));
  EXPECT_EQ(header_of(hook, "webhook-id"), plain.id);
  EXPECT_LT(body_of(hook).size(), 1'500U);
}

TEST(Forms, TelegramIsPlainText) {
  const auto request = request_of(telegram_call(a_message(), some_values()));
  EXPECT_EQ(request.url, "https://chat.example/bottk_abc/sendMessage");
  const json::object body = json_of(body_of(request));
  EXPECT_EQ(body.at("chat_id"), "-1001");
  EXPECT_FALSE(body.contains("parse_mode"));
  EXPECT_THAT(std::string(body.at("text").get_string()), HasSubstr("<tried> & `failed`"));
}

TEST(Forms, AnAlertIsKnownByWhatDoesNotChange) {
  Message later = a_message();
  later.at_ms += 3'600'000;
  later.fields["attempt"] = 99;
  later.title = "trainer: still given up";
  const json::object first = alert_of(a_message());
  const json::object second = alert_of(later);
  EXPECT_EQ(first.at("labels"), second.at("labels"));
  EXPECT_NE(first.at("annotations"), second.at("annotations"));
  EXPECT_EQ(first.at("labels").at("alertname"), "TrainwardGaveUp");
  EXPECT_EQ(first.at("labels").at("severity"), "critical");
  EXPECT_EQ(first.at("labels").at("program"), "trainer");
  EXPECT_EQ(first.at("labels").at("instance"), "gpu-box");
  EXPECT_EQ(first.at("annotations").at("attempt"), "12");
  const auto request = alertmanager_request({first}, some_values());
  EXPECT_EQ(request.url, "https://hooks.example/T000/B000/XXXX/api/v2/alerts");
  EXPECT_EQ(header_of(request, "Content-Type"), "application/json");
}

TEST(Forms, MailHasTheHeadersOfRfc5322) {
  const ProgramCall call = program_of(mail_call(a_message(), some_values(), epoch_ms));
  EXPECT_THAT(call.arguments, testing::ElementsAre("/usr/sbin/sendmail", "-t", "-oi"));
  const std::string head = call.input.substr(0, call.input.find("\n\n"));
  EXPECT_THAT(head, HasSubstr("\nTo: me@example.org,\n you@example.org\n"));
  EXPECT_THAT(head, HasSubstr("\nSubject: trainer: device_oom, given up (FATAL)\n"));
  EXPECT_THAT(head, HasSubstr("\nDate: Mon, 24 Nov 2025 16:00:00 +0000\n"));
  EXPECT_THAT(head, HasSubstr("\nMessage-ID: <msg_0a1b2c3d4e5f_1764000000000@gpu-box>\n"));
  EXPECT_THAT(head, HasSubstr("\nReferences: <episode_0a1b2c3d4e5f_77@gpu-box>\n"));
  EXPECT_THAT(head, HasSubstr("\nAuto-Submitted: auto-generated\n"));
  EXPECT_THAT(head, StartsWith("From: Trainward <trainward@gpu-box>\n"));
}

TEST(Forms, ACommandGetsTheDocumentAndVariables) {
  const ProgramCall call = program_of(command_call(a_message(), some_values()));
  EXPECT_THAT(call.arguments, testing::ElementsAre("/bin/true", "-x"));
  EXPECT_EQ(json_of(call.input).at("data").at("kind"), "gave_up");
  std::map<std::string, std::string> environment(call.environment.begin(), call.environment.end());
  EXPECT_EQ(environment["TRAINWARD_TIER"], "critical");
  EXPECT_EQ(environment["TRAINWARD_TITLE"], "trainer: device_oom, given up (FATAL)");
  EXPECT_EQ(environment["TRAINWARD_RESOLVES"], "0");
}

TEST(Forms, PingsHaveBothForms) {
  Values values = some_values();
  const auto posted = ping_request(values, "trainer: step 5 is kept");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->method, "POST");
  EXPECT_EQ(body_of(*posted), "trainer: step 5 is kept");
  values.texts["form"] = "uptime-kuma";
  values.texts["url"] = "https://kuma.example/api/push/abc?status=up&msg=OK&ping=";
  const auto got = ping_request(values, "a b&c");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->method, "GET");
  EXPECT_EQ(got->url, "https://kuma.example/api/push/abc?status=up&msg=a%20b%26c&ping=");
}

TEST(Forms, WithoutLogLinesNeitherLinesNorEvidenceIsTold) {
  MessageFacts row;
  const Message quiet = message_of(
      row,
      R"({"text":"t","fields":{"evidence":"secret line","cause":"x"},"lines":["secret line"]})",
      {"h", "r"}, false);
  EXPECT_THAT(json::serialize(document_of(quiet, 20'000)), Not(HasSubstr("secret line")));
}

TEST(Forms, WhatIsNoAddressOrTokenIsRefusedWithoutBeingShown) {
  Values values = some_values();
  for (const char* wrong : {"", "ftp://hidden", "https://hidden\nX: y", "hidden"}) {
    values.texts["url"] = wrong;
    for (const auto& call : {webhook_call(a_message(), values, 0), slack_call(a_message(), values),
                             discord_call(a_message(), values)}) {
      ASSERT_FALSE(call) << wrong;
      EXPECT_THAT(call.error().message(), Not(HasSubstr("hidden")));
    }
  }
  values.texts["token"] = "hidden\r\nX: y";
  for (const auto& call : {ntfy_call(a_message(), values), matrix_call(a_message(), values),
                           telegram_call(a_message(), values)}) {
    ASSERT_FALSE(call);
    EXPECT_THAT(call.error().message(), Not(HasSubstr("hidden")));
  }
}

TEST(Answers, AreTakenTriedAgainOrNever) {
  using Kind = Verdict::Kind;
  const auto verdict = [](int status) {
    return verdict_on(ChannelKind::webhook, {.status = status, .headers = {}, .body = ""}, 0).kind;
  };
  for (const int status : {200, 202, 204}) EXPECT_EQ(verdict(status), Kind::taken);
  for (const int status : {408, 425, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(verdict(status), Kind::again) << status;
  }
  for (const int status : {301, 302, 307, 401, 402, 403, 404, 407, 410}) {
    EXPECT_EQ(verdict(status), Kind::refused) << status;
  }
  for (const int status : {400, 405, 413, 415, 422}) {
    EXPECT_EQ(verdict(status), Kind::never) << status;
  }
}

TEST(Answers, SayWhenAClockIsWrong) {
  const auto verdict = [](int status, std::int64_t ahead_ms) {
    const net::Answer answer{
        .status = status, .headers = {{"date", "Mon, 24 Nov 2025 16:00:00 GMT"}}, .body = ""};
    return verdict_on(ChannelKind::webhook, answer, epoch_ms + ahead_ms);
  };
  using Kind = Verdict::Kind;
  EXPECT_EQ(verdict(400, 0).kind, Kind::never);
  EXPECT_EQ(verdict(400, 299'000).kind, Kind::never);
  for (const std::int64_t ahead_ms : {20 * 60'000LL, -20 * 60'000LL}) {
    EXPECT_EQ(verdict(400, ahead_ms).kind, Kind::refused);
    EXPECT_THAT(verdict(400, ahead_ms).words,
                AllOf(HasSubstr("clock is 20 min"),
                      HasSubstr(ahead_ms > 0 ? " ahead of its" : " behind its")));
    EXPECT_THAT(verdict(400, ahead_ms).words, Not(HasSubstr("kind is right")));
    EXPECT_THAT(verdict(401, ahead_ms).words, HasSubstr("clock"));
  }
  EXPECT_THAT(verdict(401, 0).words, Not(HasSubstr("clock")));
}

TEST(Answers, OfTelegramsAddressTheTokenIsAPart) {
  const net::Answer answer{.status = 404, .headers = {}, .body = ""};
  EXPECT_THAT(verdict_on(ChannelKind::telegram, answer, 0).words, HasSubstr("token"));
  EXPECT_THAT(verdict_on(ChannelKind::matrix, answer, 0).words, HasSubstr("room"));
}

TEST(Answers, SayHowLongToWaitEachInItsWay) {
  const auto wait = [](ChannelKind kind, const std::string& body, const std::string& header) {
    net::Answer answer{.status = 429, .headers = {}, .body = body};
    if (!header.empty()) answer.headers.push_back({"retry-after", header});
    return verdict_on(kind, answer, epoch_ms).wait_ms;
  };
  EXPECT_EQ(wait(ChannelKind::discord, R"({"retry_after":0.65})", "7"), 650);
  EXPECT_EQ(wait(ChannelKind::matrix, R"({"retry_after_ms":2000})", ""), 2'000);
  EXPECT_EQ(wait(ChannelKind::telegram, R"({"ok":false,"parameters":{"retry_after":3}})", ""),
            3'000);
  EXPECT_EQ(wait(ChannelKind::slack, "slow down", "30"), 31'000);
  EXPECT_EQ(wait(ChannelKind::slack, "slow down", ""), std::nullopt);
  EXPECT_EQ(wait(ChannelKind::discord, R"({"retry_after":1e300})", ""), 86'400'000);
  EXPECT_EQ(wait(ChannelKind::discord, R"({"retry_after":-5})", ""), std::nullopt);
  EXPECT_EQ(wait(ChannelKind::discord, "[", ""), std::nullopt);
}

TEST(Kinds, EveryKindHasAFormOrIsKeptUpToDate) {
  for (const auto& kind : orders::channel_kinds) {
    const auto call = call_of(kind.kind, a_message(), some_values(), epoch_ms);
    EXPECT_EQ(call.has_value(), kind.told_in_order) << kind.name;
  }
}

}  // namespace
}  // namespace trainward::courier
