#include "supervisor/ctl/base/cli.hpp"

#include <CLI/CLI.hpp>

#include "common/yaml/scalar.hpp"

namespace trainward::ctl {

Option& Option::required() {
  option_.required();
  return *this;
}

Option& Option::positive() {
  // CLI11's own says the largest double with all of its digits.
  option_.check(CLI::Validator(
      [](const std::string& word) {
        const bool digits = !word.empty() && word.find_first_not_of("0123456789") == word.npos;
        const bool zero = word.find_first_not_of('0') == word.npos;
        return digits && !zero ? std::string() : "expected a whole number from 1 on, not " + word;
      },
      "NUMBER"));
  return *this;
}

Option& Option::not_negative() {
  option_.check(CLI::NonNegativeNumber);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_.check(CLI::IsMember(words));
  return *this;
}

Option& Option::one_of_any_case(const std::vector<std::string>& words) {
  option_.check(CLI::IsMember(words, CLI::ignore_case));
  return *this;
}

Option& Option::size() {
  const auto read = [](std::string& text) -> std::string {
    const auto bytes = yaml::parse_size_bytes(text);
    if (bytes) text = std::to_string(*bytes);
    const auto digits = text.find_first_not_of("0123456789");
    return !text.empty() && digits == std::string::npos
               ? ""
               : "expected a size such as 4GB or 512MiB, found '" + text + "'";
  };
  option_.transform(CLI::Validator(read, "SIZE"));
  return *this;
}

Option& Option::excludes(const std::string& other) {
  option_.excludes(other);
  return *this;
}

Option& Option::needs(const std::string& other) {
  option_.needs(other);
  return *this;
}

Option& Option::range_of_numbers(double least, double most) {
  option_.check(CLI::Range(least, most));
  return *this;
}

Option& Option::range_of_integers(std::int64_t least, std::int64_t most) {
  option_.check(CLI::Range(least, most));
  return *this;
}

template <typename Value>
Option Verb::option(const std::string& name, Value& value, const std::string& help) const {
  return Option(*app_.add_option(name, value, help));
}
template Option Verb::option(const std::string&, std::string&, const std::string&) const;
template Option Verb::option(const std::string&, std::vector<std::string>&,
                             const std::string&) const;
template Option Verb::option(const std::string&, int&, const std::string&) const;
template Option Verb::option(const std::string&, std::int64_t&, const std::string&) const;
template Option Verb::option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Verb::option(const std::string&, double&, const std::string&) const;
template Option Verb::option(const std::string&, std::optional<int>&, const std::string&) const;
template Option Verb::option(const std::string&, std::optional<std::int64_t>&,
                             const std::string&) const;
template Option Verb::option(const std::string&, std::optional<std::uint64_t>&,
                             const std::string&) const;

Option& Option::one_value_each() {
  option_.allow_extra_args(false);
  return *this;
}

Option Verb::option_read_by(const std::string& name,
                            std::function<std::string(const std::string&)> read,
                            const std::string& help) const {
  const auto checked = [name, read = std::move(read)](const std::string& text) {
    if (std::string wrong = read(text); !wrong.empty()) throw CLI::ValidationError(name, wrong);
  };
  return Option(*app_.add_option_function<std::string>(name, checked, help));
}

Option Verb::flag(const std::string& name, bool& value, const std::string& help) const {
  return Option(*app_.add_flag(name, value, help));
}

void Cli::group(const std::string& word, const std::string& help) {
  app_.add_subcommand(word, help)->require_subcommand(1);
}

Verb Cli::verb(const std::string& words, const std::string& help) {
  const auto space = words.find(' ');
  if (space == std::string::npos) return Verb(*app_.add_subcommand(words, help));
  CLI::App& group = *app_.get_subcommand(words.substr(0, space));
  return Verb(*group.add_subcommand(words.substr(space + 1), help));
}

void Cli::on(const Verb& verb, Action command, Check check) {
  verb.app_.callback([this, command = std::move(command), check = std::move(check)] {
    if (std::string wrong = check ? check() : ""; !wrong.empty()) throw CLI::ValidationError(wrong);
    action_ = command;
  });
}

}  // namespace trainward::ctl
