// The forms that have a name, a value each: what stands around a turn.
#include <algorithm>
#include <array>
#include <variant>

#include "common/base/cases.hpp"
#include "common/base/text.hpp"
#include "trainer/chat/pieces.hpp"
#include "trainer/chat/prompt_format.hpp"
#include "trainer/chat/turns.hpp"

namespace trainward::trainer {
namespace {

// A header that names the role, and an end, around every turn.
struct Tagged {
  std::string_view before_role;
  std::string_view after_role;
  std::string_view end;        // empty: the end-of-sequence token
  std::string_view after_end;  // not trained on
  std::string_view tool_role;  // empty: there is none
  bool trims = false;
  bool begins_with_bos = false;
};

// Words above what is asked and what is answered; the end-of-sequence token ends the answer.
struct Headed {
  std::string_view introduction;             // in place of a system turn
  std::string_view introduction_with_input;  // the same, when an input follows
  std::string_view after_system;
  std::string_view question;
  std::string_view input;  // empty: inputs are part of the question
  std::string_view answer;
  std::string_view between;  // between an answer and the next question
};

struct Bracketed {};  // Llama 2: [INST] and <<SYS>>

struct Form {
  std::string_view name;
  std::variant<Tagged, Headed, Bracketed> style;
};

constexpr std::string_view alpaca_introduction =
    "Below is an instruction that describes a task. Write a response that appropriately completes "
    "the "
    "request.";
constexpr std::string_view alpaca_introduction_with_input =
    "Below is an instruction that describes a task, paired with an input that provides further "
    "context. "
    "Write a response that appropriately completes the request.";

constexpr Headed alpaca(std::string_view answer) {
  return {alpaca_introduction,
          alpaca_introduction_with_input,
          "\n\n",
          "### Instruction:\n",
          "\n\n### Input:\n",
          answer,
          "\n\n"};
}

const std::array forms = {
    Form{"chatml", Tagged{"<|im_start|>", "\n", "<|im_end|>", "\n", "tool", false, false}},
    Form{"llama3", Tagged{"<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>", "",
                          "ipython", true, true}},
    Form{"llama2", Bracketed{}},
    Form{"zephyr", Tagged{"<|", "|>\n", "", "\n", "", false, false}},
    Form{"alpaca", alpaca("\n\n### Response:\n")},
    // As its authors trained: no line end behind the last heading.
    Form{"alpaca_stanford", alpaca("\n\n### Response:")},
    Form{"question_answer",
         Headed{"", "", "\n\n", "### Question:\n", "", "\n\n### Answer:\n", "\n\n"}},
    Form{"plain", Headed{}},
};

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
      const bool answer = turn.role == "assistant";
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
        // An empty one is none, as in the rows of Alpaca's own file.
        if (!turn.content.empty()) pieces.markup(style.input);
        pieces.people(turn.content);
      } else {
        pieces.markup(style.answer);
        pieces.answer(turn.content);
        pieces.answer_end(tokens_.eos);
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
        pieces.answer_end(" ");
        pieces.answer(trim(turns[i].content));
        pieces.answer_end(" " + tokens_.eos);
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
