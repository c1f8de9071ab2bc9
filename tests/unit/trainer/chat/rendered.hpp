// A template rendered for a test, without a conversation around it.
#pragma once

#include <string>
#include <string_view>

#include "trainer/chat/jinja/template.hpp"

namespace trainward::trainer::jinja {

inline Result<Text> rendered_text(std::string_view source, std::string_view variables = "{}") {
  auto parsed = Template::parse(source);
  if (!parsed) return propagate(parsed);
  Budget budget;
  Variables given;
  const auto object = json::parse(variables);
  for (const auto& member : object.as_object()) {
    auto value = from_json(member.value(), of_people, budget);
    if (!value) return propagate(value);
    given.emplace_back(view(member.key()), std::move(*value));
  }
  return parsed->render(given, budget);
}

// The text, or "line 1: what" of the refusal.
inline std::string rendered(std::string_view source, std::string_view variables = "{}") {
  auto text = rendered_text(source, variables);
  return text ? std::string(text->bytes()) : text.error().where + ": " + text.error().what;
}

}  // namespace trainward::trainer::jinja
