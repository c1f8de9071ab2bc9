// A row of the data as turns of a conversation.
//
// In: a JSON object in one of the forms below, and what its members are called in this data. Out:
// turns with the roles system, user, assistant and tool, the last of them an answer that is to be
// learned: what follows it teaches nothing and is left out. Of the forms that a row could be, the
// first counts; where `columns` renames members, only forms that have one of these are looked for.
//
//   messages                        [{role, content}, …]; content is text or [{type: text, text}]
//   conversations                   ShareGPT: [{from, value}, …]; human and gpt are user, assistant
//   prompt with response, or with completion      text, or lists of messages as above
//   instruction, input, output      Alpaca; input may be empty or absent
//   text                            no turns: all of it is to be learned
//
// `system` or `system_prompt` beside any of these but text is a turn before them. `weight: 0`,
// `train: false` and `loss: false` in a turn say that nothing is learned from it. Errors: corrupt,
// about this row alone, with the member: none of the forms, of another type, no answer or an empty
// one; and by name what is not trained on here: preferences (chosen, rejected), tools, images,
// thoughts beside an answer, weights of a turn other than 0 and 1. Bounds: the depth that
// parse_json() allows, and max_turns. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/chat/prompt_format.hpp"

namespace trainward::trainer {

// Our name of a member to the data's own.
using Columns = std::map<std::string, std::string>;

inline constexpr std::size_t max_turns = 10'000;

struct Conversation {
  std::vector<ChatTurn> turns;
  std::string text;  // where there are no turns
};

Result<Conversation> conversation_of_row(const json::value& row, const Columns& columns);

// Usage: a name in `columns` that no form has, with the nearest that one has.
Status check_columns(const Columns& columns);

}  // namespace trainward::trainer
