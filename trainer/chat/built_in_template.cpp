// The named forms as chat templates: a loop over the messages, in which each role has its words.
//
// Every piece is an expression, so that no white space of the template itself is rendered.
#include <variant>

#include "common/base/cases.hpp"
#include "trainer/chat/forms.hpp"

namespace trainward::trainer {
namespace {

constexpr std::string_view content = "message['content']";
constexpr std::string_view trimmed = "message['content'] | trim";
constexpr std::string_view end_of_sequence = "eos_token";

// A text in Jinja's quotes.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "'";
}

std::string shown(std::string_view expression) {
  std::string out = "{{ ";
  out += expression;
  return out += " }}";
}
std::string words(std::string_view text) { return text.empty() ? "" : shown(quoted(text)); }
std::string when(std::string_view condition, const std::string& then) {
  if (then.empty()) return "";
  std::string out = "{% if ";
  out += condition;
  return out += " %}" + then + "{% endif %}";
}
std::string role_is(std::string_view role) { return "message['role'] == " + quoted(role); }
std::string for_each(const std::string& body) {
  return "{% for message in messages %}" + body + "{% endfor %}";
}
std::string at_last(const std::string& body) { return when("add_generation_prompt", body); }

std::string body_of(const Tagged& style) {
  const auto header = [&](const std::string& role) {
    return words(style.before_role) + role + words(style.after_role);
  };
  const std::string role =
      style.tool_role.empty() || style.tool_role == "tool"
          ? "message['role']"
          : quoted(style.tool_role) + " if " + role_is("tool") + " else message['role']";
  return for_each(header(shown(role)) + shown(style.trims ? trimmed : content) +
                  (style.end.empty() ? shown(end_of_sequence) : words(style.end)) +
                  words(style.after_end)) +
         at_last(header(words("assistant")));
}

std::string body_of(const Headed& style) {
  const std::string first =
      when("loop.first and " + role_is("user"),
           style.introduction.empty() ? "" : words(style.introduction) + words(style.after_system));
  const std::string between =
      when("not loop.first and loop.previtem['role'] == 'assistant'", words(style.between));
  return for_each(first + when(role_is("system"), shown(content) + words(style.after_system)) +
                  when(role_is("user"), between + words(style.question) + shown(content)) +
                  when(role_is("assistant"),
                       words(style.answer) + shown(content) + shown(end_of_sequence))) +
         at_last(words(style.answer));
}

std::string body_of(const Bracketed& /*style*/) {
  const std::string system =
      when("not loop.first and loop.previtem['role'] == 'system'",
           words("<<SYS>>\n") + shown("loop.previtem['content']") + words("\n<</SYS>>\n\n"));
  return for_each(when(role_is("user"), shown("bos_token") + words("[INST] ") + system +
                                            shown(trimmed) + words(" [/INST]")) +
                  when(role_is("assistant"),
                       words(" ") + shown(trimmed) + words(" ") + shown(end_of_sequence)));
}

}  // namespace

std::string template_of(const Form& form, bool begins) {
  const std::string body =
      std::visit(Cases{[](const auto& style) { return body_of(style); }}, form.style);
  const auto* tagged = std::get_if<Tagged>(&form.style);
  const bool of_the_form = tagged != nullptr && tagged->begins_with_bos;
  // Llama 2's begins every round, the first included.
  const bool in_the_rounds = std::holds_alternative<Bracketed>(form.style);
  return ((begins || of_the_form) && !in_the_rounds ? shown("bos_token") : "") + body;
}

}  // namespace trainward::trainer
