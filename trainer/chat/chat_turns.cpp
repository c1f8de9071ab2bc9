#include "trainer/chat/chat_turns.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward::trainer {

std::string turn_name(std::size_t index) { return fmt::format("turn {}", index + 1); }

Status check_turns(std::span<const ChatTurn> turns, bool assistant_is_next) {
  static constexpr std::array<std::string_view, 5> roles = {"system", "user", "assistant", "tool",
                                                            "input"};
  if (turns.empty()) return fail(ErrorKind::usage, "a conversation without turns");
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const ChatTurn& turn = turns[i];
    if (std::find(roles.begin(), roles.end(), turn.role) == roles.end()) {
      return fail(ErrorKind::usage, fmt::format("the role '{}' is not known", clean(turn.role)),
                  turn_name(i), "roles are system, user, assistant and tool");
    }
    if (turn.role == "input" && (i == 0 || turns[i - 1].role != "user")) {
      return fail(ErrorKind::usage, "an input without a user's turn before it", turn_name(i));
    }
    if (!is_utf8(turn.content))
      return fail(ErrorKind::usage, "the content is not UTF-8", turn_name(i));
  }
  if (assistant_is_next && turns.back().role == "assistant") {
    return fail(ErrorKind::usage, "the assistant has spoken last, so there is nothing to answer",
                turn_name(turns.size() - 1), "end the conversation with a user's turn");
  }
  return {};
}

std::vector<ChatTurn> with_inputs_joined(std::span<const ChatTurn> turns) {
  std::vector<ChatTurn> joined;
  for (const ChatTurn& turn : turns) {
    if (turn.role != "input") {
      joined.push_back(turn);
    } else if (!turn.content.empty()) {
      joined.back().content += "\n\n" + turn.content;
    }
  }
  return joined;
}

Status check_alternation(std::span<const ChatTurn> turns, std::string_view form) {
  std::string_view before = "the beginning";
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::string_view role = turns[i].role;
    const bool fits = role == "system"      ? i == 0
                      : role == "user"      ? before != "user" && before != "input"
                      : role == "input"     ? before == "user"
                      : role == "assistant" ? before == "user" || before == "input"
                                            : false;
    if (!fits) {
      return fail(ErrorKind::usage,
                  fmt::format("{} behind {}, which the prompt form {} has no words for", role,
                              before, form),
                  turn_name(i),
                  "it takes a system turn or none, then user and assistant in turn; chatml takes "
                  "any order");
    }
    before = role;
  }
  return {};
}

}  // namespace trainward::trainer
