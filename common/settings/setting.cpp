#include "common/settings/setting.hpp"

#include "common/settings/worker_settings.hpp"

namespace trainward::settings {
namespace {

// "rate 0.003\n"; what is only true or false is said by its label alone.
std::string digest_line(const Setting& setting, const WorkerSettings& values,
                        const WorkerSettings& defaults) {
  const bool always = setting.digest == Digest::always;
  const auto line = [&](const auto& value, const auto& fallback) {
    return always || value != fallback ? fmt::format("{} {}\n", setting.label, value) : "";
  };
  if (const auto* whole = std::get_if<Whole>(&setting.type)) {
    return line(get(values, *whole), get(defaults, *whole));
  }
  if (const auto* real = std::get_if<Real>(&setting.type)) {
    return line(values.*real->at, defaults.*real->at);
  }
  if (const auto* word = std::get_if<Word>(&setting.type)) {
    return line(values.*word->at, defaults.*word->at);
  }
  const auto& flag = std::get<Flag>(setting.type);
  return values.*flag.at != defaults.*flag.at ? fmt::format("{}\n", setting.label) : "";
}

}  // namespace

std::int64_t get(const WorkerSettings& values, const Whole& whole) {
  return std::visit([&](auto at) { return static_cast<std::int64_t>(values.*at); }, whole.at);
}

void set(WorkerSettings& values, const Whole& whole, std::int64_t value) {
  std::visit([&](auto at) { values.*at = static_cast<std::decay_t<decltype(values.*at)>>(value); },
             whole.at);
}

std::string digest_lines(const WorkerSettings& values) {
  const WorkerSettings defaults;
  std::string text;
  for (const Digest part : {Digest::always, Digest::when_set}) {
    for (const Setting& setting : worker_settings) {
      if (setting.digest == part) text += digest_line(setting, values, defaults);
    }
  }
  return text;
}

}  // namespace trainward::settings
