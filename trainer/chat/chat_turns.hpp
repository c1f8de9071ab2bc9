// What every form asks of a conversation. Errors: usage, with the turn in `where`. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/chat/prompt_format.hpp"

namespace trainward::trainer {

// "turn 3", counted from one.
std::string turn_name(std::size_t index);

inline bool is_learned(const ChatTurn& turn) { return turn.role == "assistant" && turn.trained; }

// The roles are known ones, there is a turn at all, text is UTF-8, and where the assistant is to
// speak it has not spoken last. An input follows a user's turn.
Status check_turns(std::span<const ChatTurn> turns, bool assistant_is_next);

// Each input added to the user's turn before it.
std::vector<ChatTurn> with_inputs_joined(std::span<const ChatTurn> turns);

// A system turn or none, then user and assistant in turn, inputs behind users.
Status check_alternation(std::span<const ChatTurn> turns, std::string_view form);

}  // namespace trainward::trainer
