#include "supervisor/evidence/foreign/substitute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/base/text.hpp"

namespace trainward::foreign {
namespace {

constexpr std::array<std::string_view, 10> launch_words{
    "checkpoint", "resume_step", "attempt",      "devices",          "serial",
    "block",      "batch",       "accumulation", "checkpoint_every", "checkpoint_dir"};
constexpr std::array<std::string_view, 4> reset_words{"serial", "bus_id", "serials", "devices"};

tl::unexpected<Error> unknown(std::string_view name, std::span<const std::string_view> names) {
  std::string what = fmt::format("unknown name '{{{}}}'", name);
  if (names.empty()) {
    what += "; nothing is filled in here, and a brace is written '{{'";
  } else if (const std::string near = nearest(name, names); !near.empty()) {
    what += fmt::format("; did you mean '{{{}}}'?", near);
  } else {
    what += fmt::format("; valid: {}; a brace is written '{{{{'", fmt::join(names, ", "));
  }
  return fail(ErrorKind::usage, what);
}

// Empty where nothing is configured, so that the arguments that carry it can be left out.
std::string number(std::int64_t planned, std::int64_t configured) {
  const std::int64_t value = planned > 0 ? planned : configured;
  return value > 0 ? std::to_string(value) : "";
}

}  // namespace

std::span<const std::string_view> launch_names() { return launch_words; }
std::span<const std::string_view> reset_names() { return reset_words; }

Result<Template> Template::parse(std::string text, std::span<const std::string_view> names) {
  Template out;
  std::string literal;
  const std::string_view all(text);
  for (std::size_t at = 0; at < all.size();) {
    if (all[at] != '{') {
      literal += all[at++];
      continue;
    }
    if (at + 1 < all.size() && all[at + 1] == '{') {
      literal += '{';
      at += 2;
      continue;
    }
    const auto end = all.find('}', at);
    if (end == std::string_view::npos) {
      return fail(ErrorKind::usage, "a '{' without its '}'; a brace is written '{{'");
    }
    const std::string_view inside = all.substr(at + 1, end - at - 1);
    const std::string_view name = inside.substr(0, inside.find(":+"));
    if (std::find(names.begin(), names.end(), name) == names.end()) return unknown(name, names);
    if (inside.substr(name.size()) == ":+") {
      return fail(ErrorKind::usage,
                  fmt::format("'{{{}}}' says nothing; write what is to stand there "
                              "when there is a value behind the '+'",
                              inside));
    }
    if (!literal.empty()) out.pieces_.push_back({std::move(literal), false});
    literal.clear();
    out.pieces_.push_back({std::string(name), true});
    if (name.size() < inside.size()) out.pieces_.back().words = inside.substr(name.size() + 2);
    at = end + 1;
  }
  if (!literal.empty()) out.pieces_.push_back({std::move(literal), false});
  out.text_ = std::move(text);
  return out;
}

Template::Filled Template::fill(const Values& values) const {
  Filled out;
  bool only_words = !pieces_.empty();
  bool said = false;
  for (const Piece& piece : pieces_) {
    only_words = only_words && piece.words.has_value();
    if (!piece.is_name) {
      out.text += piece.text;
      continue;
    }
    const auto value = values.find(piece.text);
    const bool empty = value == values.end() || value->second.empty();
    if (piece.words) {
      said = said || !empty;
      if (!empty) out.text += *piece.words;
    } else if (empty) {
      out.empty_value = true;
    } else {
      out.text += value->second;
    }
  }
  out.left_out = only_words && !said;
  return out;
}

bool Template::names(std::string_view name) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& piece) { return piece.is_name && piece.text == name; });
}

std::vector<std::string> fill(const Command& command, const Values& values) {
  std::vector<std::string> out;
  for (const Argument& argument : command) {
    std::vector<std::string> words;
    bool dropped = false;
    for (const Template& word : argument.words) {
      Template::Filled filled = word.fill(values);
      dropped = dropped || (argument.together && (filled.empty_value || filled.left_out));
      if (!filled.left_out) words.push_back(std::move(filled.text));
    }
    if (!dropped) std::move(words.begin(), words.end(), std::back_inserter(out));
  }
  return out;
}

Values values_of(const LaunchFacts& facts) {
  return {
      {"checkpoint", facts.checkpoint},
      {"resume_step", std::to_string(facts.resume_step)},
      {"attempt", std::to_string(facts.attempt)},
      {"devices", facts.devices},
      {"serial", facts.serials},
      {"checkpoint_dir", facts.checkpoint_dir},
      {"block", number(facts.plan.block, facts.configured.block)},
      {"batch", number(facts.plan.batch, facts.configured.batch)},
      {"accumulation", std::to_string(std::max<std::int64_t>(facts.plan.accumulation, 1))},
      {"checkpoint_every", number(facts.plan.checkpoint_every, facts.configured.checkpoint_every)}};
}

}  // namespace trainward::foreign
