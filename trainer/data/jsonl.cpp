#include "trainer/data/jsonl.hpp"

#include "common/base/json.hpp"
#include "common/base/text.hpp"

namespace trainward::trainer {

Result<std::optional<std::string>> document_of_line(std::string_view line) {
  if (trim(line).empty()) return std::optional<std::string>();
  auto value = parse_json(line, "");
  if (!value) return propagate(value);
  if (!value->is_object()) return fail(ErrorKind::corrupt, "is not a JSON object");
  const json::object& object = value->get_object();
  if (object.contains("text")) {
    auto text = get_string(object, "text");
    if (!text) return fail(ErrorKind::corrupt, text.error().what);
    return std::optional(std::move(*text));
  }
  if (!object.contains("prompt") && !object.contains("response")) {
    return fail(ErrorKind::corrupt, "has neither 'text' nor 'prompt' and 'response'");
  }
  auto prompt = get_string(object, "prompt");
  if (!prompt) return fail(ErrorKind::corrupt, prompt.error().what);
  auto response = get_string(object, "response");
  if (!response) return fail(ErrorKind::corrupt, response.error().what);
  return std::optional(*prompt + "\n" + *response);
}

}  // namespace trainward::trainer
