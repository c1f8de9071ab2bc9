// A mail as RFC 5322 has it, for the local sendmail, which takes the receivers from its headers.
#include <fmt/format.h>

#include <array>
#include <chrono>

#include "common/base/text.hpp"
#include "common/base/utf8.hpp"
#include "supervisor/courier/forms/escape.hpp"
#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {
namespace {

constexpr std::size_t longest_mail_line = 900;  // 998 bytes are the most

// "Tue, 24 Nov 2026 00:17:13 +0000", whatever the locale.
std::string mail_date(std::int64_t wall_ms) {
  constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds at{std::chrono::seconds(wall_ms / 1000)};
  const auto midnight = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(midnight);
  const std::chrono::hh_mm_ss time(at - midnight);
  return fmt::format(
      "{}, {} {} {} {:02}:{:02}:{:02} +0000", days.at(std::chrono::weekday(midnight).c_encoding()),
      static_cast<unsigned>(date.day()), months.at(static_cast<unsigned>(date.month()) - 1),
      static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
      time.seconds().count());
}

// The right side of ids: letters, digits, dots and hyphens.
std::string domain_of(const std::string& host) {
  std::string out;
  for (const char c : host) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.';
    if (plain && out.size() < 200) out += c;
  }
  return out.empty() || out.front() == '.' || out.back() == '.' ? "localhost" : out;
}

// Lines that are too long go on in the next one, between characters.
std::string mail_body(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    while (line.size() > longest_mail_line) {
      std::size_t end = longest_mail_line;
      while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
      out += std::string(line.substr(0, end)) + "\n";
      line.remove_prefix(end);
    }
    out += std::string(line) + "\n";
  }
  return out;
}

// What was checked when the configuration was read comes from elsewhere here.
std::string address(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c > ' ' && c < 127 && std::string_view("<>,;:()\"\\[]").find(c) == std::string_view::npos) {
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<Call> mail_call(const Message& message, const Values& values, std::int64_t now_ms) {
  const auto receivers = values.words.find("to");
  if (receivers == values.words.end() || receivers->second.empty()) {
    return fail(ErrorKind::usage, "nobody is named as the receiver of mails");
  }
  std::string to;
  for (const std::string& receiver : receivers->second) {
    to += (to.empty() ? "" : ",\n ") + address(receiver);
  }
  const std::string domain = domain_of(message.host);
  std::string from = address(values.text("from"));
  if (from.empty()) from = "trainward@" + domain;
  std::string mail =
      fmt::format("From: Trainward <{}>\nTo: {}\nSubject: {}\nDate: {}\nMessage-ID: <{}@{}>\n",
                  from, to, header_text(message.title), mail_date(now_ms), message.id, domain);
  if (message.episode != 0) {
    // A message that was never sent, which all of the trouble answer: one thread in mail programs.
    const std::string thread =
        fmt::format("<episode_{}_{}@{}>", message.run, message.episode, domain);
    mail += fmt::format("In-Reply-To: {0}\nReferences: {0}\n", thread);
  }
  mail += "Auto-Submitted: auto-generated\n";
  if (message.tier == "critical") mail += "Importance: high\nX-Priority: 1\n";
  mail +=
      "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
      "Content-Transfer-Encoding: 8bit\n\n";
  mail += mail_body(message.title + "\n\n" + body_text(message));
  return ProgramCall{{std::string(values.text("sendmail")), "-t", "-oi"}, std::move(mail)};
}

}  // namespace trainward::courier
