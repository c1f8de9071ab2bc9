// What another implementation of Jinja is compared with: a template and its variables a line of
// JSON,
// `{"template": …, "variables": {…}}`; for each a line, {"text": …} or {"error": …, "where": …}.
#include <iostream>
#include <string>

#include "common/base/json/json.hpp"
#include "trainer/chat/jinja/template.hpp"

namespace trainward::trainer::jinja {
namespace {

Result<Text> rendered(const json::object& asked) {
  auto parsed = Template::parse(view(asked.at("template").as_string()));
  if (!parsed) return propagate(parsed);
  Budget budget;
  Variables variables;
  for (const auto& member : asked.at("variables").as_object()) {
    auto value = from_json(member.value(), of_template, budget);
    if (!value) return propagate(value);
    variables.emplace_back(view(member.key()), std::move(*value));
  }
  return parsed->render(variables, budget);
}

}  // namespace
}  // namespace trainward::trainer::jinja

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const auto asked = boost::json::parse(line);
    const auto text = trainward::trainer::jinja::rendered(asked.as_object());
    boost::json::object answer;
    if (text) {
      answer["text"] = text->bytes();
    } else {
      answer["error"] = text.error().what;
      answer["where"] = text.error().where;
    }
    std::cout << answer << '\n';
  }
}
