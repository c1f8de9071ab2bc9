// The forms that have a name: turns as pieces of text.
#include <algorithm>
#include <variant>

#include "common/base/cases.hpp"
#include "common/base/text.hpp"
#include "trainer/chat/chat_turns.hpp"
#include "trainer/chat/forms.hpp"
#include "trainer/chat/pieces.hpp"
#include "trainer/chat/prompt_format.hpp"

namespace trainward::trainer {
namespace {

class BuiltInFormat final : public PromptFormat {
 public:
  BuiltInFormat(const Form& form, const TemplateTokens& tokens)
      : form_(form),
        tokens_(tokens),
        digest_text_(json::serialize(json::object{{"prompt_form", form.name},
                                                  {"version", 1},
                                                  {"bos", writes_beginning() ? tokens.bos : ""},
                                                  {"end", end()}})) {}

  Result<std::vector<PromptPiece>> render(std::span<const ChatTurn> turns) const override {
    return written(turns, false);
  }
  Result<std::vector<PromptPiece>> prompt(std::span<const ChatTurn> turns) const override {
    auto pieces = written(turns, true);
    if (!pieces) return pieces;
    // Earlier answers are part of what is asked.
    Pieces asked;
    for (const PromptPiece& piece : *pieces) asked.add(piece.text, false, piece.markup);
    return asked.take();
  }
  bool writes_beginning() const override {
    const auto* tagged = std::get_if<Tagged>(&form_.style);
    return !tokens_.bos.empty() &&
           (tagged != nullptr ? tagged->begins_with_bos
                              : std::holds_alternative<Bracketed>(form_.style));
  }
  std::string_view name() const override { return form_.name; }
  const std::string& digest_text() const override { return digest_text_; }
  std::vector<std::string> ends() const override { return {end()}; }
  std::string as_template(bool begins) const override { return template_of(form_, begins); }

  // What ends an answer; empty when the tokenizer lacks it.
  std::string end() const {
    const auto* tagged = std::get_if<Tagged>(&form_.style);
    return tagged != nullptr && !tagged->end.empty() ? std::string(tagged->end) : tokens_.eos;
  }

 private:
  Result<std::vector<PromptPiece>> written(std::span<const ChatTurn> turns,
                                           bool assistant_is_next) const {
    if (auto ok = check_turns(turns, assistant_is_next); !ok) return propagate(ok);
    const auto* headed = std::get_if<Headed>(&form_.style);
    std::vector<ChatTurn> joined;
    if (headed == nullptr || headed->input.empty()) turns = joined = with_inputs_joined(turns);
    Pieces pieces;
    const Status ok = std::visit(
        Cases{[&](const auto& style) { return write(style, turns, assistant_is_next, pieces); }},
        form_.style);
    if (!ok) return tl::unexpected(ok.error());
    return pieces.take();
  }

  Status write(const Tagged& style, std::span<const ChatTurn> turns, bool assistant_is_next,
               Pieces& pieces) const {
    const auto header = [&](std::string_view role) {
      pieces.markup(style.before_role);
      pieces.markup(role);
      pieces.markup(style.after_role);
    };
    if (style.begins_with_bos) pieces.markup(tokens_.bos);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const ChatTurn& turn = turns[i];
      const bool answer = is_learned(turn);
      if (turn.role == "tool" && style.tool_role.empty()) {
        return fail(ErrorKind::usage,
                    fmt::format("the prompt form {} has no turns of tools", form_.name),
                    turn_name(i), "chatml and llama3 have them");
      }
      header(turn.role == "tool" ? style.tool_role : std::string_view(turn.role));
      pieces.add(style.trims ? trim(turn.content) : std::string_view(turn.content), answer, false);
      pieces.add(end(), answer, true);
      pieces.markup(style.after_end);
    }
    if (assistant_is_next) header("assistant");
    return {};
  }

  Status write(const Headed& style, std::span<const ChatTurn> turns, bool assistant_is_next,
               Pieces& pieces) const {
    if (auto ok = check_alternation(turns, form_.name); !ok) return ok;
    const bool has_system = turns.front().role == "system";
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const ChatTurn& turn = turns[i];
      if (turn.role == "system") {
        pieces.people(turn.content);
        pieces.markup(style.after_system);
      } else if (turn.role == "user") {
        if (i == 0 && !has_system && !style.introduction.empty()) {
          pieces.markup(has_input(turns, i) ? style.introduction_with_input : style.introduction);
          pieces.markup(style.after_system);
        }
        if (i > 0 && turns[i - 1].role == "assistant") pieces.markup(style.between);
        pieces.markup(style.question);
        pieces.people(turn.content);
      } else if (turn.role == "input") {
        // An empty input is left out, as in the rows of Alpaca's own file.
        if (!turn.content.empty()) pieces.markup(style.input);
        pieces.people(turn.content);
      } else {
        pieces.markup(style.answer);
        pieces.add(turn.content, turn.trained, false);
        pieces.add(tokens_.eos, turn.trained, true);
      }
    }
    if (assistant_is_next) pieces.markup(style.answer);
    return {};
  }

  static bool has_input(std::span<const ChatTurn> turns, std::size_t user) {
    return user + 1 < turns.size() && turns[user + 1].role == "input" &&
           !turns[user + 1].content.empty();
  }

  // The system turn stands inside of the first user's.
  Status write(const Bracketed& /*style*/, std::span<const ChatTurn> turns,
               bool /*assistant_is_next*/, Pieces& pieces) const {
    if (auto ok = check_alternation(turns, form_.name); !ok) return ok;
    const bool has_system = turns.front().role == "system";
    if (has_system && turns.size() == 1) {
      return fail(ErrorKind::usage,
                  "a system turn alone, which the prompt form llama2 puts into the user's",
                  turn_name(0), "add a user's turn");
    }
    for (std::size_t i = has_system ? 1 : 0; i < turns.size(); ++i) {
      if (turns[i].role == "assistant") {
        pieces.add(" ", turns[i].trained, true);
        pieces.add(trim(turns[i].content), turns[i].trained, false);
        pieces.add(" " + tokens_.eos, turns[i].trained, true);
        continue;
      }
      pieces.markup(tokens_.bos);
      pieces.markup("[INST] ");
      if (has_system && i == 1) {
        pieces.markup("<<SYS>>\n");
        pieces.people(turns[0].content);
        pieces.markup("\n<</SYS>>\n\n");
      }
      pieces.people(trim(turns[i].content));
      pieces.markup(" [/INST]");
    }
    return {};
  }

  const Form& form_;
  TemplateTokens tokens_;
  std::string digest_text_;
};

}  // namespace

std::span<const std::string_view> built_in_format_names() {
  static constexpr auto names =
      std::to_array<std::string_view>({"chatml", "llama3", "llama2", "zephyr", "alpaca",
                                       "alpaca_stanford", "question_answer", "plain"});
  static_assert(names.size() == std::tuple_size_v<decltype(forms)>);
  return names;
}

Result<std::shared_ptr<const PromptFormat>> built_in_format(std::string_view name,
                                                            const TemplateTokens& tokens) {
  const auto* const form =
      std::find_if(forms.begin(), forms.end(), [&](const Form& one) { return one.name == name; });
  if (form == forms.end()) {
    const std::string near = nearest(name, built_in_format_names());
    return fail(ErrorKind::usage,
                fmt::format("there is no prompt form '{}'", clean(std::string(name))), "",
                near.empty() ? fmt::format("there are {}", fmt::join(built_in_format_names(), ", "))
                             : fmt::format("did you mean {}?", near));
  }
  auto made = std::make_shared<const BuiltInFormat>(*form, tokens);
  if (made->end().empty()) {
    return fail(
        ErrorKind::usage,
        fmt::format("the prompt form {} ends answers with the end-of-sequence token, and this "
                    "tokenizer names none",
                    name),
        "", "name it in tokenizer_config.json (eos_token), or choose chatml or llama3");
  }
  return made;
}

}  // namespace trainward::trainer
