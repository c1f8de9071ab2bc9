// A program of the reader's own: JSON on its stdin, and the most of it in variables.
#include <fmt/format.h>

#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {

Result<Call> command_call(const Message& message, const Values& values) {
  constexpr std::size_t most = 64'000;
  const auto words = values.words.find("run");
  if (words == values.words.end() || words->second.empty()) {
    return fail(ErrorKind::usage, "no program is named");
  }
  return ProgramCall{words->second,
                     json::serialize(document_of(message, most)) + "\n",
                     {{"TRAINWARD_MESSAGE_ID", message.id},
                      {"TRAINWARD_HOST", message.host},
                      {"TRAINWARD_PROGRAM", message.program},
                      {"TRAINWARD_TIER", message.tier},
                      {"TRAINWARD_KIND", message.kind},
                      {"TRAINWARD_TITLE", message.title},
                      {"TRAINWARD_TEXT", message.text},
                      {"TRAINWARD_EPISODE", fmt::format("{}", message.episode)},
                      {"TRAINWARD_RESOLVES", message.resolves ? "1" : "0"}}};
}

}  // namespace trainward::courier
