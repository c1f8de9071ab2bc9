// Messages as tests tell them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {

inline constexpr std::int64_t epoch_ms = 1'764'000'000'000;  // Mon, 24 Nov 2025 16:00:00 UTC

inline Message a_message() {
  MessageFacts row;
  row.id = epoch_ms;
  row.at_ms = epoch_ms;
  row.episode = 77;
  row.program = "trainer";
  row.tier = "critical";
  row.kind = "gave_up";
  row.title = "trainer: device_oom, given up (FATAL)";
  return message_of(row,
                    R"({"text":"attempt 12 ended: device_oom.\nLost: 41 steps.","fields":)"
                    R"({"cause":"device_oom","attempt":12,"evidence":"Out of Memory"},)"
                    R"("lines":["step 3241","Out of Memory: <tried> & `failed`"],)"
                    R"("resolves":false,"started_ms":1763999990000})",
                    {"gpu-box", "0a1b2c3d4e5f"}, true);
}

inline Values some_values() {
  Values values;
  values.texts = {{"url", "https://hooks.example/T000/B000/XXXX"},
                  {"server", "https://chat.example"},
                  {"topic", "my-topic"},
                  {"token", "tk_abc"},
                  {"room", "!abc:chat.example"},
                  {"chat", "-1001"},
                  {"sendmail", "/usr/sbin/sendmail"},
                  {"form", "healthchecks"}};
  values.words = {{"to", {"me@example.org", "you@example.org"}}, {"run", {"/bin/true", "-x"}}};
  return values;
}

inline net::Request request_of(const Result<Call>& call) {
  EXPECT_TRUE(call.has_value()) << call.error().message();
  return call ? std::get<net::Request>(*call) : net::Request();
}

inline ProgramCall program_of(const Result<Call>& call) {
  EXPECT_TRUE(call.has_value()) << call.error().message();
  return call ? std::get<ProgramCall>(*call) : ProgramCall();
}

inline const std::string& body_of(const net::Request& request) {
  return std::get<std::string>(request.body);
}

inline json::object json_of(const std::string& text) {
  const auto parsed = parse_json(text, "test");
  EXPECT_TRUE(parsed.has_value() && parsed->is_object()) << text;
  return parsed && parsed->is_object() ? parsed->get_object() : json::object();
}

inline std::string header_of(const net::Request& request, std::string_view name) {
  for (const net::Header& header : request.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

}  // namespace trainward::courier
