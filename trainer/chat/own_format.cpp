// The form of a model's own template: which part of what it renders is an answer is found by
// rendering the conversation up to where the assistant is to speak, and up to where it has spoken.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "trainer/chat/chat_turns.hpp"
#include "trainer/chat/jinja/template.hpp"
#include "trainer/chat/pieces.hpp"
#include "trainer/chat/prompt_format.hpp"

namespace trainward::trainer {
namespace {

using jinja::Text;

constexpr std::size_t max_turns = 2000;  // each answer renders the turns before it again
constexpr std::string_view remedy =
    "use one of the built-in prompt forms instead: chatml, llama3, llama2, zephyr, alpaca, "
    "question_answer or plain";

struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool trained = true;
};

tl::unexpected<Error> of_template(Error error) {
  error.where = error.where.empty() ? "the model's chat template"
                                    : "the model's chat template, " + error.where;
  if (error.hint.empty()) error.hint = remedy;
  return tl::unexpected(std::move(error));
}

bool white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool of_people(const Text& text, std::size_t at) {
  return (text.mark_at(at) & jinja::of_people) != 0;
}

// The end of an answer without the white space that the template puts behind it.
std::size_t answer_end(const Text& text, Stretch answer) {
  std::size_t end = answer.end;
  while (end > answer.begin && white(text.bytes()[end - 1]) && !of_people(text, end - 1)) --end;
  return end;
}

// Where a conversation begins with the assistant nobody has asked, and what templates make of no
// turns at all is not what stands before its first: the answer begins where its words do.
std::size_t first_words(const Text& text) {
  std::size_t begin = 0;
  for (const Text::Run& run : text.runs()) {
    if ((run.mark & jinja::of_people) != 0) break;
    begin = run.end;
  }
  return begin;
}

std::vector<Stretch> generated_spans(const Text& text) {
  std::vector<Stretch> spans;
  std::size_t begin = 0;
  for (const Text::Run& run : text.runs()) {
    if ((run.mark & jinja::generated) != 0) {
      if (!spans.empty() && spans.back().end == begin) {
        spans.back().end = run.end;
      } else {
        spans.push_back({begin, run.end, true});
      }
    }
    begin = run.end;
  }
  return spans;
}

class OwnFormat final : public PromptFormat {
 public:
  static Result<std::shared_ptr<const PromptFormat>> make(std::string_view jinja,
                                                          const TemplateTokens& tokens,
                                                          const json::object& variables);

  Result<std::vector<PromptPiece>> render(std::span<const ChatTurn> turns) const override {
    return pieces(turns, false);
  }
  Result<std::vector<PromptPiece>> prompt(std::span<const ChatTurn> turns) const override {
    return pieces(turns, true);
  }
  bool writes_beginning() const override { return writes_beginning_; }
  bool last_answer_only() const override { return last_answer_only_; }
  std::string_view name() const override { return "the model's own"; }
  const std::string& digest_text() const override { return digest_text_; }
  std::vector<std::string> ends() const override { return {end_}; }

 private:
  explicit OwnFormat(jinja::Template parsed) : template_(std::move(parsed)) {}

  Status set_variables(const TemplateTokens& tokens, const json::object& given);
  Status learn(const TemplateTokens& tokens);
  Result<Text> text(std::span<const ChatTurn> turns, bool assistant_is_next) const;
  Result<std::vector<Stretch>> answers(std::span<const ChatTurn> turns, const Text& whole,
                                       bool last_only) const;
  static Result<std::vector<Stretch>> marked_answers(std::span<const ChatTurn> turns,
                                                     const Text& whole);
  Result<Stretch> answer(std::span<const ChatTurn> turns, std::size_t index,
                         const Text& whole) const;
  Result<std::vector<PromptPiece>> pieces(std::span<const ChatTurn> turns,
                                          bool assistant_is_next) const;

  jinja::Template template_;
  jinja::Variables variables_;
  std::string digest_text_;
  std::string end_;      // what ends an answer, the template's or `closing_`
  std::string closing_;  // put behind answers that the template leaves open
  bool writes_beginning_ = false;
  bool last_answer_only_ = false;
};

Status OwnFormat::set_variables(const TemplateTokens& tokens, const json::object& given) {
  jinja::Budget budget;
  const auto set = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) variables_.emplace_back(name, jinja::Value(Text(text)));
  };
  set("bos_token", tokens.bos);
  set("eos_token", tokens.eos);
  set("unk_token", tokens.unk);
  set("pad_token", tokens.pad);
  for (const std::string_view absent : {"tools", "documents"}) {
    variables_.emplace_back(absent, jinja::Value(jinja::None{}));
  }
  for (const auto& member : given) {
    const std::string name(view(member.key()));
    if (name == "messages" || name == "add_generation_prompt") {
      return fail(ErrorKind::usage,
                  fmt::format("the variable {} of a chat template cannot be set", name), "",
                  "leave it out: it is the conversation's");
    }
    auto value = jinja::from_json(member.value(), jinja::of_template, budget);
    if (!value) return propagate(value);
    variables_.emplace_back(name, std::move(*value));
  }
  return {};
}

Result<Text> OwnFormat::text(std::span<const ChatTurn> turns, bool assistant_is_next) const {
  jinja::Budget budget;
  const auto word = [](std::string_view text) { return jinja::Value(Text(text)); };
  jinja::Items messages;
  for (const ChatTurn& turn : turns) {
    auto message =
        jinja::mapping({{word("role"), word(turn.role)},
                        {word("content"), jinja::Value(Text(turn.content, jinja::of_people))}},
                       budget);
    if (!message) return propagate(message);
    messages.push_back(std::move(*message));
  }
  auto listed = jinja::sequence(std::move(messages), budget);
  if (!listed) return propagate(listed);
  jinja::Variables variables = variables_;
  variables.emplace_back("messages", std::move(*listed));
  variables.emplace_back("add_generation_prompt", jinja::Value(assistant_is_next));
  auto made = template_.render(variables, budget);
  if (!made) return of_template(std::move(made).error());
  return made;
}

Result<Stretch> OwnFormat::answer(std::span<const ChatTurn> turns, std::size_t index,
                                  const Text& whole) const {
  std::optional<Text> shorter;
  if (index + 1 < turns.size()) {
    auto through = text(turns.first(index + 1), false);
    if (!through) return propagate(through);
    shorter = std::move(*through);
  }
  const Text& through = shorter ? *shorter : whole;
  if (!whole.bytes().starts_with(through.bytes())) {
    return of_template(
        {ErrorKind::usage,
         "the template writes this answer differently once there is a later turn, so the trained "
         "part is unknown",
         turn_name(index), "end the conversation with this answer, or " + std::string(remedy)});
  }
  if (index == 0) return Stretch{first_words(through), through.size(), turns[index].trained};
  auto before = text(turns.first(index), true);
  if (!before) return propagate(before);
  if (!through.bytes().starts_with(before->bytes())) {
    return of_template(
        {ErrorKind::usage,
         "the template writes the assistant's turn differently than it asks for it, so the trained "
         "part is unknown",
         turn_name(index),
         "mark it by {% generation %} in the template, or " + std::string(remedy)});
  }
  return Stretch{before->size(), through.size(), turns[index].trained};
}

Result<std::vector<Stretch>> OwnFormat::marked_answers(std::span<const ChatTurn> turns,
                                                       const Text& whole) {
  std::vector<Stretch> spans = generated_spans(whole);
  std::vector<bool> trained;
  for (const ChatTurn& turn : turns) {
    if (turn.role == "assistant") trained.push_back(turn.trained);
  }
  if (std::ranges::all_of(trained, std::identity())) return spans;
  if (trained.size() != spans.size()) {
    return of_template(
        {ErrorKind::usage,
         "a turn is marked as not to be trained on, and the template does not mark each answer by "
         "itself, so which one it is cannot be told",
         "", "leave the row out, or " + std::string(remedy)});
  }
  for (std::size_t i = 0; i < spans.size(); ++i) spans[i].trained = trained[i];
  return spans;
}

Result<std::vector<Stretch>> OwnFormat::answers(std::span<const ChatTurn> turns, const Text& whole,
                                                bool last_only) const {
  if (template_.has_generation()) return marked_answers(turns, whole);
  std::vector<Stretch> spans;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].role != "assistant") continue;
    if (last_only && i + 1 < turns.size()) continue;
    if (!turns[i].trained && closing_.empty()) continue;
    auto span = answer(turns, i, whole);
    if (!span) return propagate(span);
    span->end = answer_end(whole, *span);
    spans.push_back(*span);
  }
  return spans;
}

Result<std::vector<PromptPiece>> OwnFormat::pieces(std::span<const ChatTurn> turns,
                                                   bool assistant_is_next) const {
  if (auto ok = check_turns(turns, assistant_is_next); !ok) return propagate(ok);
  if (turns.size() > max_turns) {
    return fail(ErrorKind::usage, fmt::format("a conversation of more than {} turns", max_turns),
                "", "split it, or use a built-in prompt form");
  }
  const std::vector<ChatTurn> joined = with_inputs_joined(turns);
  auto whole = text(joined, assistant_is_next);
  if (!whole) return propagate(whole);
  std::vector<Stretch> spans;
  if (!assistant_is_next || !closing_.empty()) {
    auto found = answers(joined, *whole, last_answer_only_);
    if (!found) return propagate(found);
    spans = std::move(*found);
  }
  Pieces made;
  std::size_t at = 0;
  // Up to `end`, cut where people's text begins or ends.
  const auto add_until = [&](std::size_t end, bool is_answer) {
    for (const Text::Run& run : whole->runs()) {
      const std::size_t stop = std::min(run.end, end);
      if (stop <= at) continue;
      made.add(whole->bytes().substr(at, stop - at), is_answer, (run.mark & jinja::of_people) == 0);
      at = stop;
    }
  };
  for (const Stretch& span : spans) {
    const bool learned = !assistant_is_next && span.trained;
    add_until(span.begin, false);
    add_until(span.end, learned);
    made.add(closing_, learned, true);
  }
  add_until(whole->size(), false);
  return made.take();
}

// What the template does with a conversation of one and of two rounds.
Status OwnFormat::learn(const TemplateTokens& tokens) {
  const std::vector<ChatTurn> turns = {
      {"user", "Question"}, {"assistant", "Answer"}, {"user", "Further"}, {"assistant", "More"}};
  const auto one_round = std::span(turns).first(2);
  auto whole = text(one_round, false);
  if (!whole) return propagate(whole);
  writes_beginning_ = !tokens.bos.empty() && whole->bytes().starts_with(tokens.bos);
  auto spans = answers(one_round, *whole, true);
  if (!spans) return propagate(spans);
  const std::size_t content = whole->bytes().rfind("Answer");
  if (content == std::string_view::npos || spans->empty()) {
    return of_template(
        {ErrorKind::usage, "the template does not write what the assistant says", "", ""});
  }
  // With {% generation %} the end may stand behind what is marked.
  const std::size_t begin = content + std::string_view("Answer").size();
  const std::size_t end = answer_end(*whole, {begin, whole->size(), true});
  std::string_view tail = whole->bytes().substr(begin, std::max(begin, end) - begin);
  while (!tail.empty() && white(tail.front())) tail.remove_prefix(1);
  if (tail.empty()) {
    if (tokens.eos.empty()) {
      return of_template(
          {ErrorKind::usage,
           "the template writes nothing that ends an answer, and the tokenizer names no "
           "end-of-sequence token",
           "", "name it in tokenizer_config.json (eos_token), or " + std::string(remedy)});
    }
    if (!template_.has_generation()) closing_ = tokens.eos;
    tail = tokens.eos;
  }
  end_ = tail;
  if (template_.has_generation()) return {};
  auto two_rounds = text(turns, false);
  last_answer_only_ = !two_rounds || !answers(turns, *two_rounds, false);
  return {};
}

Result<std::shared_ptr<const PromptFormat>> OwnFormat::make(std::string_view jinja,
                                                            const TemplateTokens& tokens,
                                                            const json::object& variables) {
  auto parsed = jinja::Template::parse(jinja);
  if (!parsed) return of_template(std::move(parsed).error());
  std::shared_ptr<OwnFormat> format(new OwnFormat(std::move(*parsed)));
  format->digest_text_ = json::serialize(json::object{{"prompt_form", "own"},
                                                      {"version", 1},
                                                      {"template", jinja},
                                                      {"bos", tokens.bos},
                                                      {"eos", tokens.eos},
                                                      {"unk", tokens.unk},
                                                      {"pad", tokens.pad},
                                                      {"variables", variables}});
  if (auto ok = format->set_variables(tokens, variables); !ok) return propagate(ok);
  if (auto ok = format->learn(tokens); !ok) return propagate(ok);
  return std::shared_ptr<const PromptFormat>(std::move(format));
}

}  // namespace

Result<std::shared_ptr<const PromptFormat>> own_format(std::string_view jinja,
                                                       const TemplateTokens& tokens,
                                                       const json::object& variables) {
  return OwnFormat::make(jinja, tokens, variables);
}

}  // namespace trainward::trainer
