#include "supervisor/evidence/foreign/formats/bar.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/evidence/foreign/formats/fields.hpp"
#include "supervisor/evidence/foreign/formats/letters.hpp"
#include "supervisor/evidence/foreign/formats/meaning.hpp"

namespace trainward::foreign {
namespace {

// "60/500", "60/?": false for "1.2k/5k" and "12.3M/40M".
bool read_count(std::string_view text, Bar& bar) {
  const auto slash = text.find('/');
  bar.done = whole_number(text.substr(0, slash));
  if (slash != std::string_view::npos) bar.total = whole_number(text.substr(slash + 1));
  return bar.done.has_value();
}

// "00:12<01:30, 4.90it/s, loss=2.31": what comes behind the rate.
std::optional<std::string_view> postfix_of(std::string_view inside) {
  const auto comma = inside.find(", ");
  const std::string_view times = inside.substr(0, comma);
  if (times.find(':') == std::string_view::npos || comma == std::string_view::npos) {
    return std::nullopt;
  }
  inside.remove_prefix(comma + 2);
  const auto next = inside.find(',');
  const std::string_view rate = trim(inside.substr(0, next));
  if (rate.find("/s") == std::string_view::npos && !rate.starts_with("?") &&
      rate.find("s/") == std::string_view::npos) {
    return std::nullopt;
  }
  return next == std::string_view::npos ? std::string_view{} : inside.substr(next + 1);
}

}  // namespace

std::optional<Bar> read_bar(std::string_view line) {
  Bar bar;
  const auto percent = line.find("%|");
  std::string_view rest = line;
  if (percent != std::string_view::npos) {
    std::size_t begin = percent;
    while (begin > 0 && is_digit(line[begin - 1])) --begin;
    if (begin == percent || percent - begin > 3) return std::nullopt;
    bar.label = line.substr(0, begin);
    rest = line.substr(percent + 2);
    const auto end = rest.find('|');
    if (end == std::string_view::npos) return std::nullopt;
    rest = trim(rest.substr(end + 1));
  }
  const auto open = rest.find(" [");
  if (open == std::string_view::npos) return std::nullopt;
  const auto close = rest.find(']', open);
  const auto postfix = postfix_of(rest.substr(open + 2, close - open - 2));
  if (!postfix) return std::nullopt;
  bar.postfix = *postfix;
  std::string_view count = trim(rest.substr(0, open));
  if (percent == std::string_view::npos) {
    // "Training: 60it [00:12, 4.90it/s]", "Training: 60/? [00:12<?, 4.90it/s]"
    const auto space = count.rfind(' ');
    if (space != std::string_view::npos) {
      bar.label = count.substr(0, space);
      count.remove_prefix(space + 1);
    }
    const bool of = count.find('/') != std::string_view::npos;
    if (!of && !count.ends_with("it")) return std::nullopt;
    if (!of) count.remove_suffix(2);
  }
  read_count(count, bar);
  bar.label = trim(bar.label);
  if (bar.label.ends_with(':')) bar.label.remove_suffix(1);
  return bar;
}

std::uint64_t label_shape(std::string_view label) {
  std::uint64_t shape = 1469598103934665603U;
  for (const char c : label) {
    if (is_digit(c)) break;
    shape = (shape ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return shape;
}

bool is_held_out(std::string_view label) {
  return has_word(
      label, {"val", "valid", "validation", "validating", "validate", "eval", "evaluation",
              "evaluating", "evaluate", "test", "testing", "dev", "sanity", "predicting", "predict",
              "generating", "inference", "sampling"});
}

void read_epoch(std::string_view label, Reading& reading) {
  while (const auto field = next_field(label)) {
    if (understand(field->key, field->unit).meaning != Meaning::epoch) continue;
    reading.epoch = whole_number(field->number);
    if (!field->of.empty()) reading.epochs = whole_number(field->of);
    return;
  }
}

}  // namespace trainward::foreign
