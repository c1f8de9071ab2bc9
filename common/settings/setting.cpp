#include "common/settings/setting.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"
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

std::string variable_problem(std::string_view name) {
  constexpr std::array<std::string_view, 8> taken{"messages",  "add_generation_prompt",
                                                  "tools",     "documents",
                                                  "bos_token", "eos_token",
                                                  "unk_token", "pad_token"};
  const auto letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto later = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || !letter(name.front()) || !std::all_of(name.begin(), name.end(), later)) {
    return fmt::format("'{}' is not a name that a template can ask for", name);
  }
  if (std::find(taken.begin(), taken.end(), name) == taken.end()) return "";
  return fmt::format("'{}' is what the conversation and the tokenizer say", name);
}

bool is_variable(const json::value& value) {
  return value.is_string() || value.is_bool() || value.is_number();
}

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
