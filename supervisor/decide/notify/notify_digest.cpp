#include "supervisor/decide/notify/notify_digest.hpp"

#include <boost/describe.hpp>
#include <cmath>

#include "common/base/text.hpp"
#include "supervisor/decide/core/reflect.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::notify {

BOOST_DESCRIBE_STRUCT(DigestMemory, (), (sent_ms, looked_ms))

namespace {

using views::grouped;

constexpr std::int64_t day_ms = 86'400'000;
// A week of digests is not one that begins a little earlier each time.
constexpr std::int64_t week_ms = 7 * day_ms - 3'600'000;
constexpr std::size_t most_waited = 20;

std::string number_or_none(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? number_text(*number) : "not a number";
}

std::string change(std::string_view what, const std::optional<double>& then,
                   const std::optional<double>& now) {
  if (!now) return {};
  if (!then) return fmt::format("{} {}", what, number_or_none(now));
  return fmt::format("{} {} to {}", what, number_or_none(then), number_or_none(now));
}

std::string ends_text(const std::vector<std::pair<std::string, std::int64_t>>& ends) {
  std::string text;
  std::int64_t all = 0;
  for (const auto& [cause, times] : ends) {
    all += times;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", times,
                        cause.empty() ? "unknown" : clean(cause));
  }
  return all == 0 ? "no attempt ended" : fmt::format("{} ended: {}", count(all, "attempt"), text);
}

// How long until the end, at the pace of the time that is told of.
std::string left(const ProgramFigures& program, const DigestFigures& figures) {
  const std::int64_t target = int_or(program.row, "target_step", 0);
  if (!program.step_then || !program.step_now || target <= *program.step_now) return {};
  const std::int64_t done = *program.step_now - *program.step_then;
  if (done <= 0) return {};
  const double ms = static_cast<double>(target - *program.step_now) *
                    static_cast<double>(figures.until_ms - figures.from_ms) /
                    static_cast<double>(done);
  constexpr double too_long = 1e13;
  if (ms > too_long) return {};
  return fmt::format("at this pace {} to go", views::span(std::llround(ms)));
}

std::string steps_text(const ProgramFigures& program) {
  if (!program.step_now || *program.step_now <= 0) return "no step";
  if (!program.step_then || *program.step_then >= *program.step_now) {
    return fmt::format("at step {}, none new", grouped(*program.step_now));
  }
  return fmt::format("{} new steps, {} to {}", grouped(*program.step_now - *program.step_then),
                     grouped(*program.step_then), grouped(*program.step_now));
}

std::string about(const ProgramFigures& program, const DigestFigures& figures) {
  const std::string name = views::said(string_or(program.row, "name", "-"), 80);
  const views::Sentence sentence = views::sentence_of(program.row, figures.until_ms);
  std::string text = fmt::format("{}: {}", name, sentence.text);
  if (!sentence.todo.empty()) text += " " + sentence.todo + ".";
  std::string parts = steps_text(program);
  const auto add = [&](const std::string& more) {
    if (!more.empty()) parts += "; " + more;
  };
  add(ends_text(program.ends));
  if (const auto share = get_number(program.row, "effective_share"); share) {
    add(fmt::format("effective {:.0f} %", *share * 100));
  }
  add(change("loss", program.loss_then, program.loss_now));
  add(change("held-out loss", program.held_out_then, program.held_out_now));
  add(left(program, figures));
  return fmt::format("{}\n  {}.", text, parts);
}

json::object fields_of(const ProgramFigures& program) {
  json::object causes;
  for (const auto& [cause, times] : program.ends) causes[cause] = times;
  json::object fields{{"program", string_or(program.row, "name", "")},
                      {"state", string_or(program.row, "state", "")},
                      {"ends", std::move(causes)}};
  const auto put = [&](std::string_view key, const auto& value) {
    if (value) fields[key] = *value;
  };
  const auto put_number = [&](std::string_view key, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) fields[key] = *value;
  };
  put("step_then", program.step_then);
  put("step_now", program.step_now);
  put_number("loss_then", program.loss_then);
  put_number("loss_now", program.loss_now);
  put_number("held_out_then", program.held_out_then);
  put_number("held_out_now", program.held_out_now);
  if (const auto share = get_number(program.row, "effective_share"); share) {
    put_number("effective_share", std::optional(*share));
  }
  return fields;
}

}  // namespace

std::string to_json_text(const DigestMemory& memory) {
  return json::serialize(core::reflect::write(memory));
}

Result<DigestMemory> digest_memory_from(std::string_view text) {
  DigestMemory memory;
  if (text.empty()) return memory;
  auto parsed = parse_json(text, "what is remembered of digests");
  if (!parsed) return propagate(parsed);
  core::reflect::read(*parsed, memory);
  return memory;
}

DigestMemory sound(const DigestMemory& memory, std::int64_t now_ms) {
  const bool begins = memory.sent_ms == 0 || memory.sent_ms > now_ms || memory.looked_ms > now_ms;
  return begins ? DigestMemory{now_ms, now_ms} : memory;
}

std::optional<std::int64_t> digest_due(const Policy& policy, const DigestMemory& memory,
                                       const Zone& zone) {
  if (!policy.digest) return std::nullopt;
  return next_at(*policy.digest, memory.looked_ms, zone);
}

Digest digest_now(const DigestMemory& memory, std::int64_t now_ms, bool happened) {
  if (happened) return Digest::daily;
  return now_ms - memory.sent_ms >= week_ms ? Digest::weekly : Digest::none;
}

Message worded(const DigestFigures& figures, const Policy& policy) {
  json::array rows;
  for (const ProgramFigures& program : figures.programs) rows.push_back(program.row);
  Message message;
  message.at_ms = figures.until_ms;
  message.not_before_ms = figures.until_ms;
  message.kind = Kind::digest;
  message.tier = facts(Kind::digest).tier;
  message.started_ms = figures.from_ms;
  const std::string headline = views::headline_of(views::told_of(rows, figures.until_ms));
  message.title = title_of("", fmt::format("Digest: {}", headline));
  message.text = fmt::format("{} since {}: {}",
                             figures.which == Digest::weekly ? "A quiet week" : "What happened",
                             views::utc_text(figures.from_ms), headline);
  json::array programs;
  for (const ProgramFigures& program : figures.programs) {
    message.text += "\n" + about(program, figures);
    programs.push_back(fields_of(program));
  }
  if (!figures.boards.empty()) {
    message.text += "\nBoards:";
    for (const std::string& board : figures.boards) message.text += "\n  " + clean(board);
  }
  if (!figures.waited.empty()) {
    message.text += "\nNot told one by one:";
    std::size_t told = 0;
    for (const std::string& title : figures.waited) {
      if (told++ == most_waited) {
        message.text += fmt::format("\n  and {} more (trainwardctl notify list)",
                                    figures.waited.size() - most_waited);
        break;
      }
      message.text += "\n  " + clean(title);
    }
  }
  for (const auto& [channel, times] : figures.given_up) {
    message.text += fmt::format("\n{} did not reach {} (trainwardctl notify list)",
                                count(times, "message"), clean(channel));
  }
  message.text += "\nLook: trainwardctl status";
  if (!policy.page.empty()) message.text += " or " + policy.page;
  message.fields = {{"from_ms", figures.from_ms},
                    {"until_ms", figures.until_ms},
                    {"weekly", figures.which == Digest::weekly},
                    {"must_act", false},
                    {"programs", std::move(programs)}};
  return message;
}

}  // namespace trainward::notify
