#include "trainer/data/examples/conversation.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"

namespace trainward::trainer {
namespace {

using Turns = std::vector<ChatTurn>;

constexpr std::array<std::string_view, 10> member_names{
    "messages", "conversations", "prompt", "response", "completion",
    "system",   "instruction",   "input",  "output",   "text"};

// A row, by our names of its members.
class Row {
 public:
  Row(const json::object& object, const Columns& columns) : object_(&object), columns_(&columns) {}

  [[nodiscard]] const std::string& name(const std::string& member) const {
    const auto renamed = columns_->find(member);
    return renamed == columns_->end() ? member : renamed->second;
  }
  // nullptr when absent or null.
  [[nodiscard]] const json::value* find(const std::string& member) const {
    const json::value* value = object_->if_contains(name(member));
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  // Whether it may be of a form with these members: none is renamed, or one of these is.
  [[nodiscard]] bool may_have(std::initializer_list<const char*> members) const {
    return columns_->empty() || std::ranges::any_of(members, [&](const char* member) {
             return columns_->contains(member);
           });
  }

 private:
  const json::object* object_;
  const Columns* columns_;
};

tl::unexpected<Error> bad(std::string what) { return fail(ErrorKind::corrupt, std::move(what)); }

std::string_view kind_of(const json::value& value) {
  if (value.is_string()) return "text";
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  if (value.is_bool()) return "true or false";
  return value.is_null() ? "null" : "a number";
}

// Something that is there and not empty.
bool holds(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(json::string_view(member.data(), member.size()));
  if (value == nullptr || value->is_null()) return false;
  if (value->is_array()) return !value->get_array().empty();
  if (value->is_object()) return !value->get_object().empty();
  if (value->is_string()) return !value->get_string().empty();
  return true;
}

Status refuse_what_is_not_trained_on(const json::object& row) {
  if (holds(row, "chosen") || holds(row, "rejected")) {
    return bad(
        "is preference data ('chosen' and 'rejected'), which is not trained on; make rows of the "
        "chosen answers alone");
  }
  for (const std::string_view member : {"tools", "functions"}) {
    if (holds(row, member))
      return bad(fmt::format("has '{}'; calls of tools are not trained on", member));
  }
  for (const std::string_view member : {"images", "image", "videos", "video", "audio", "audios"}) {
    if (holds(row, member)) return bad(fmt::format("has '{}'; only text is trained on", member));
  }
  return {};
}

std::string role_of(std::string_view role) {
  std::string word = lower_case(role);
  for (const std::string_view known : {"system", "user", "assistant", "tool"}) {
    if (word == known) return word;
  }
  if (word == "human") return "user";
  for (const std::string_view model : {"gpt", "chatgpt", "bot", "model"}) {
    if (word == model) return "assistant";
  }
  return {};
}

// Whether something is to be learned from a turn, in the words of OpenAI (weight), axolotl (train)
// and ms-swift (loss).
Result<bool> is_trained(const json::object& turn, bool answer, const std::string& where) {
  bool trained = true;
  for (const std::string_view mark : {"weight", "train", "loss"}) {
    if (!holds(turn, mark)) continue;
    const json::value& value = turn.at(mark);
    const bool yes =
        value == json::value(true) || value == json::value(1) || value == json::value(1.0);
    const bool no =
        value == json::value(false) || value == json::value(0) || value == json::value(0.0);
    if (!yes && !no) {
      return bad(fmt::format("{} has '{}': {}; a turn is trained on (1, true) or not (0, false)",
                             where, mark, clean(json::serialize(value).substr(0, 40))));
    }
    if (yes && !answer) {
      return bad(fmt::format("{} has '{}': {}, and only what the assistant says is trained on",
                             where, mark, json::serialize(value)));
    }
    trained = trained && yes;
  }
  return trained;
}

Status refuse_what_is_not_learned(const json::object& turn, const std::string& where) {
  for (const std::string_view member : {"tool_calls", "function_call"}) {
    if (holds(turn, member)) {
      return bad(fmt::format("{} has '{}'; calls of tools are not trained on", where, member));
    }
  }
  for (const std::string_view thoughts : {"reasoning_content", "reasoning", "thinking"}) {
    if (holds(turn, thoughts)) {
      return bad(
          fmt::format("{} has '{}', which is not read; write thoughts into the content as "
                      "the model puts them (<think>…</think>)",
                      where, thoughts));
    }
  }
  for (const std::string_view part : {"train_detail", "loss_scale"}) {
    if (holds(turn, part)) {
      return bad(
          fmt::format("{} has '{}'; a turn is trained on or not (train: false)", where, part));
    }
  }
  return {};
}

Result<std::string> content_text(const json::value& content, const std::string& where) {
  if (content.is_string()) return std::string(content.get_string());
  if (!content.is_array()) return bad(fmt::format("{} is {}, not text", where, kind_of(content)));
  std::string text;
  for (const json::value& part : content.get_array()) {
    if (!part.is_object()) {
      return bad(fmt::format("{} holds {}, not parts of type text", where, kind_of(part)));
    }
    const std::string type = string_or(part.get_object(), "type", "");
    if (type != "text") {
      return bad(fmt::format("{} holds a part of type '{}'; only text is trained on", where,
                             clean(std::string_view(type).substr(0, 40))));
    }
    auto words = get_string(part.get_object(), "text");
    if (!words) return bad(fmt::format("{}: {}", where, words.error().what));
    text += *words;
  }
  return text;
}

Result<ChatTurn> turn_of(const json::value& value, const std::string& where) {
  if (!value.is_object()) return bad(fmt::format("{} is {}, not an object", where, kind_of(value)));
  const json::object& object = value.get_object();
  // Either spelling: sets of one are often only half made into the other.
  const json::value* role = object.if_contains("role");
  if (role == nullptr) role = object.if_contains("from");
  if (role == nullptr || !role->is_string()) {
    return bad(fmt::format("{} does not say its role", where));
  }
  if (auto ok = refuse_what_is_not_learned(object, where); !ok) return propagate(ok);
  std::string name = role_of(view(role->get_string()));
  if (name.empty()) {
    return bad(fmt::format("{} has the role '{}', not system, user, assistant or tool", where,
                           clean(view(role->get_string()).substr(0, 40))));
  }
  const json::value* content = object.if_contains("content");
  if (content == nullptr) content = object.if_contains("value");
  if (content == nullptr) return bad(fmt::format("{} has no content", where));
  auto text = content_text(*content, where);
  if (!text) return propagate(text);
  const auto trained = is_trained(object, name == "assistant", where);
  if (!trained) return tl::unexpected(trained.error());
  return ChatTurn{std::move(name), std::move(*text), *trained};
}

Status add_turns(const json::value& list, const std::string& name, Turns& turns) {
  if (!list.is_array()) return bad(fmt::format("'{}' is {}, not a list", name, kind_of(list)));
  if (list.get_array().size() > max_turns) {
    return bad(fmt::format("'{}' holds more than {} turns", name, max_turns));
  }
  for (std::size_t i = 0; i < list.get_array().size(); ++i) {
    auto turn = turn_of(list.get_array()[i], fmt::format("'{}', turn {},", name, i + 1));
    if (!turn) return propagate(turn);
    turns.push_back(std::move(*turn));
  }
  return {};
}

// A member that is a text of that role, or a list of turns.
Status add_member(const Row& row, const std::string& member, const char* role, Turns& turns) {
  const json::value* value = row.find(member);
  if (value == nullptr) return bad(fmt::format("has no '{}'", row.name(member)));
  if (value->is_array()) return add_turns(*value, row.name(member), turns);
  if (!value->is_string()) {
    return bad(fmt::format("'{}' is {}, not text", row.name(member), kind_of(*value)));
  }
  turns.push_back({role, std::string(value->get_string())});
  return {};
}

// The system turn that stands beside the others, at their front. Some sets have it in both places.
Status add_system(const Row& row, Turns& turns) {
  const json::value* system = row.find("system");
  std::string name = row.name("system");
  if (system == nullptr && name == "system") system = row.find(name = "system_prompt");
  if (system == nullptr) return {};
  if (!system->is_string()) {
    return bad(fmt::format("'{}' is {}, not text", name, kind_of(*system)));
  }
  const std::string_view words = view(system->get_string());
  if (words.empty()) return {};
  if (turns.empty() || turns.front().role != "system") {
    turns.insert(turns.begin(), ChatTurn{"system", std::string(words)});
  } else if (turns.front().content != words) {
    return bad(fmt::format("has '{}' beside another system turn; keep one of them", name));
  }
  return {};
}

Status add_conversation(const Row& row, const std::string& member, Turns& turns) {
  if (auto ok = add_turns(*row.find(member), row.name(member), turns); !ok) return ok;
  return add_system(row, turns);
}

Status add_pair(const Row& row, Turns& turns) {
  const bool completion = row.find("completion") != nullptr && row.find("response") == nullptr;
  if (completion && row.find("label") != nullptr && row.find("label")->is_bool()) {
    return bad(
        "is preference data ('label'), which is not trained on; make rows of the good "
        "answers alone");
  }
  if (auto ok = add_member(row, "prompt", "user", turns); !ok) return ok;
  if (auto ok = add_system(row, turns); !ok) return ok;
  return add_member(row, completion ? "completion" : "response", "assistant", turns);
}

Status add_instruction(const Row& row, Turns& turns) {
  if (auto ok = add_system(row, turns); !ok) return ok;
  if (auto ok = add_member(row, "instruction", "user", turns); !ok) return ok;
  if (const json::value* input = row.find("input"); input != nullptr) {
    if (!input->is_string()) {
      return bad(fmt::format("'{}' is {}, not text", row.name("input"), kind_of(*input)));
    }
    if (!input->get_string().empty()) {
      turns.push_back({"input", std::string(input->get_string())});
    }
  }
  return add_member(row, "output", "assistant", turns);
}

bool is_answer(const ChatTurn& turn) { return turn.role == "assistant"; }

Status end_with_an_answer(Turns& turns) {
  const bool any = std::ranges::any_of(turns, is_answer);
  if (!any) return bad("has no answer to learn: no turn is the assistant's");
  while (!turns.empty() && !(is_answer(turns.back()) && turns.back().trained)) turns.pop_back();
  if (turns.empty()) return bad("has no answer to learn: each is marked as not to be trained on");
  const bool said = std::ranges::any_of(turns, [](const ChatTurn& turn) {
    return is_answer(turn) && turn.trained && !trim(turn.content).empty();
  });
  if (!said) return bad("has an empty answer: there is nothing to learn");
  return {};
}

// The turns of the first form that the row has; nothing when it has none of them.
Result<std::optional<Turns>> turns_of(const Row& row) {
  Turns turns;
  Status read;
  if (row.find("messages") != nullptr && row.may_have({"messages", "system"})) {
    read = add_conversation(row, "messages", turns);
  } else if (row.find("conversations") != nullptr && row.may_have({"conversations", "system"})) {
    read = add_conversation(row, "conversations", turns);
  } else if ((row.find("prompt") != nullptr || row.find("response") != nullptr) &&
             row.may_have({"prompt", "response", "completion", "system"})) {
    read = add_pair(row, turns);
  } else if ((row.find("instruction") != nullptr || row.find("output") != nullptr) &&
             row.may_have({"instruction", "input", "output", "system"})) {
    read = add_instruction(row, turns);
  } else {
    return std::optional<Turns>();
  }
  if (!read) return propagate(read);
  if (auto ok = end_with_an_answer(turns); !ok) return propagate(ok);
  return std::optional(std::move(turns));
}

}  // namespace

Result<Conversation> conversation_of_row(const json::value& value, const Columns& columns) {
  if (!value.is_object()) return bad("is not a JSON object");
  const Row row(value.get_object(), columns);
  if (auto ok = refuse_what_is_not_trained_on(value.get_object()); !ok) return propagate(ok);
  auto turns = turns_of(row);
  if (!turns) return propagate(turns);
  if (*turns) return Conversation{std::move(**turns), {}};
  const json::value* text = row.find("text");
  if (text == nullptr || !row.may_have({"text"})) {
    return bad(columns.empty()
                   ? "has none of 'messages', 'conversations', 'prompt', 'instruction' and 'text'; "
                     "column_mapping says what they are called here"
                   : "has none of the members that column_mapping names");
  }
  if (!text->is_string()) {
    return bad(fmt::format("'{}' is {}, not text", row.name("text"), kind_of(*text)));
  }
  if (text->get_string().empty()) return bad(fmt::format("'{}' is empty", row.name("text")));
  return Conversation{{}, std::string(text->get_string())};
}

Status check_columns(const Columns& columns) {
  for (const auto& [ours, own] : columns) {
    if (std::ranges::find(member_names, std::string_view(ours)) == member_names.end()) {
      const std::string close = nearest(ours, member_names);
      return fail(ErrorKind::usage, fmt::format("'{}' is not a known member of a row", ours),
                  "columns",
                  close.empty() ? fmt::format("one of {}", fmt::join(member_names, ", "))
                                : fmt::format("did you mean '{}'?", close));
    }
    if (own.empty()) return fail(ErrorKind::usage, fmt::format("'{}' is empty", ours), "columns");
  }
  return {};
}

}  // namespace trainward::trainer
