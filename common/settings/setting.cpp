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
    return line(real->at.of(values), real->at.of(defaults));
  }
  if (const auto* word = std::get_if<Word>(&setting.type)) {
    return line(word->at.of(values), word->at.of(defaults));
  }
  if (const auto* choice = std::get_if<Choice>(&setting.type)) {
    const auto of = [&](const WorkerSettings& in) { return static_cast<int>(choice->at.of(in)); };
    return line(of(values), of(defaults));
  }
  const auto& flag = std::get<Flag>(setting.type);
  return flag.at.of(values) != flag.at.of(defaults) ? fmt::format("{}\n", setting.label) : "";
}

}  // namespace

std::int64_t get(const WorkerSettings& values, const Whole& whole) {
  return std::visit([&](const auto& at) { return static_cast<std::int64_t>(at.of(values)); },
                    whole.at);
}

void set(WorkerSettings& values, const Whole& whole, std::int64_t value) {
  const auto put = [&]<typename T>(const Member<T>& at) { at.of(values) = static_cast<T>(value); };
  std::visit(put, whole.at);
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
