// The prompt forms that have a name, a value each: what stands around a turn. Pure.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>

namespace trainward::trainer {

// A header that names the role, and an end, around every turn.
struct Tagged {
  std::string_view before_role;
  std::string_view after_role;
  std::string_view end;        // empty: the end-of-sequence token
  std::string_view after_end;  // not trained on
  std::string_view tool_role;  // may be empty
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

inline constexpr std::string_view alpaca_introduction =
    "Below is an instruction that describes a task. Write a response that appropriately completes "
    "the request.";
inline constexpr std::string_view alpaca_introduction_with_input =
    "Below is an instruction that describes a task, paired with an input that provides further "
    "context. Write a response that appropriately completes the request.";

constexpr Headed alpaca(std::string_view answer) {
  return {alpaca_introduction,
          alpaca_introduction_with_input,
          "\n\n",
          "### Instruction:\n",
          "\n\n### Input:\n",
          answer,
          "\n\n"};
}

inline constexpr std::array forms{
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

// The form as a Jinja template, for other serving tools; `begins`: with BOS in front, even where
// the form does not write it. An Alpaca row's input is part of the question there.
std::string template_of(const Form& form, bool begins);

}  // namespace trainward::trainer
