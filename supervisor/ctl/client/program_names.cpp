#include "supervisor/ctl/client/program_names.hpp"

#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

bool is_pattern(const std::string& word) { return word.find_first_of("*?[") != std::string::npos; }

bool means(const std::string& word, const std::string& program) {
  return word == "all" || word == program ||
         (is_pattern(word) && ::fnmatch(word.c_str(), program.c_str(), 0) == 0);
}

Names names_in(const json::array& rows) {
  Names names;
  for (const json::value& row : rows) names.push_back(string_or(row.get_object(), "name", ""));
  return names;
}

}  // namespace

std::string plain_name(std::string word) {
  const auto colon = word.find(':');
  if (colon == std::string::npos) return word;
  const std::string process = word.substr(colon + 1);
  word.resize(colon);
  if (process.empty() || process == "*" || process == word) return word;
  return word + ":" + process;
}

Names meant_by(const Names& words, const Names& known) {
  Names meant;
  const auto add = [&meant](const std::string& name) {
    if (std::find(meant.begin(), meant.end(), name) == meant.end()) meant.push_back(name);
  };
  for (const std::string& word : words) {
    const std::string name = plain_name(word);
    bool found = name == "all";
    for (const std::string& program : known) {
      if (!means(name, program)) continue;
      found = true;
      add(program);
    }
    if (!found) add(name);
  }
  return meant;
}

Answer<Names> meant_by(const Context& context, const Names& words) {
  const bool by_name = std::none_of(words.begin(), words.end(), [](const std::string& word) {
    const std::string name = plain_name(word);
    return name == "all" || is_pattern(name);
  });
  if (by_name) return meant_by(words, Names());
  const auto rows = as_array(call(context, Method::get, "/v1/programs"));
  if (!rows) return tl::unexpected<Failure>(rows.error());
  return meant_by(words, names_in(*rows));
}

Answer<std::string> only_program(const Context& context, std::string_view command) {
  const auto rows =
      as_array(ask(context, "/v1/programs", [](const store::Store& store) -> Result<json::value> {
        return store.status_json(Time{store.newest_ms().value_or(0), 0});
      }));
  if (!rows) return tl::unexpected<Failure>(rows.error());
  const Names names = names_in(*rows);
  if (names.size() == 1) return names.front();
  if (names.empty()) {
    return tl::unexpected<Failure>(
        {exit_status::failed, {ErrorKind::usage, "there is no program", "", ""}});
  }
  return tl::unexpected<Failure>(
      {exit_status::usage,
       {ErrorKind::usage, "there are several programs; name one", "",
        fmt::format("trainwardctl {} {}", command, fmt::join(names, "|"))}});
}

}  // namespace trainward::ctl
