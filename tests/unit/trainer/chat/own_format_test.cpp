#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "rendered.hpp"
#include "shown_pieces.hpp"

namespace trainward::trainer {
namespace {

const std::vector<ChatTurn> one_round = {{"user", "U"}, {"assistant", "A"}};
const std::vector<ChatTurn> rounds = {
    {"system", "S"}, {"user", "U"}, {"assistant", "A"}, {"user", "V"}, {"assistant", "B"}};

TEST(OwnFormat, GivesThePiecesOfTheBuiltInFormOfTheSameStyle) {
  const auto same = [](const std::string& file, std::string_view name,
                       std::span<const ChatTurn> turns) {
    const auto format = own(template_file(file));
    EXPECT_EQ(shown(format->render(turns)), shown(built_in(name)->render(turns))) << name;
    EXPECT_EQ(shown(format->prompt(turns.first(turns.size() - 1))),
              shown(built_in(name)->prompt(turns.first(turns.size() - 1))))
        << name;
    EXPECT_EQ(format->ends(), built_in(name)->ends()) << name;
    EXPECT_EQ(format->writes_beginning(), built_in(name)->writes_beginning()) << name;
    EXPECT_FALSE(format->last_answer_only());
  };
  same("chatml", "chatml", rounds);
  same("zephyr", "zephyr", rounds);
  same("llama3", "llama3", std::span(rounds).subspan(1));
  same("llama2", "llama2", std::span(rounds).subspan(1));
}

// What an exported model is asked by elsewhere is what it was trained with.
TEST(OwnFormat, ABuiltInFormAsATemplateGivesTheSamePieces) {
  for (const std::string_view name : built_in_format_names()) {
    const auto form = built_in(name);
    const auto same = [&](std::span<const ChatTurn> turns) {
      const auto format = own(form->as_template(false));
      EXPECT_EQ(shown(format->render(turns)), shown(form->render(turns))) << name;
      EXPECT_EQ(shown(format->prompt(turns.first(turns.size() - 1))),
                shown(form->prompt(turns.first(turns.size() - 1))))
          << name;
      EXPECT_EQ(format->ends(), form->ends()) << name;
      EXPECT_EQ(format->writes_beginning(), form->writes_beginning()) << name;
    };
    same(one_round);
    same(rounds);
    same(std::span(rounds).subspan(1));
    // The begin token that the tokenizer puts in front, once.
    EXPECT_TRUE(own(form->as_template(true))->writes_beginning()) << name;
    EXPECT_EQ(form->as_template(true).find("{{ bos_token }}"),
              form->as_template(true).rfind("{{ bos_token }}"))
        << name;
  }
}

TEST(OwnFormat, MarksWhatTheTemplateMarks) {
  const auto format = own(template_file("marked"));
  EXPECT_EQ(shown(format->render(one_round)),
            "<|im_start|>user\n‹U›<|im_end|>\n<|im_start|>assistant\n[‹A›][<|im_end|>]\n");
  EXPECT_EQ(format->ends(), std::vector<std::string>{"<|im_end|>"});
}

// What a row says is not to be learned is asked about, and the answer after it is trained on.
TEST(OwnFormat, TurnsMarkedAsNotToBeLearnedAreContextAlone) {
  std::vector<ChatTurn> turns = rounds;
  turns[2].trained = false;
  const auto without_first = [](std::string text) {
    text.replace(text.find("[‹A›]"), std::string_view("[‹A›]").size(), "‹A›");
    const auto end = text.find("[", text.find("‹A›"));
    text.erase(end, 1).erase(text.find("]", end), 1);
    return text;
  };
  for (const std::string_view name : built_in_format_names()) {
    const auto form = built_in(name);
    EXPECT_EQ(shown(form->render(turns)), shown(own(form->as_template(false))->render(turns)))
        << name;
    EXPECT_EQ(joined(form->render(turns)), joined(form->render(rounds))) << name;
    EXPECT_THAT(shown(form->render(turns)), testing::HasSubstr("[‹B›]")) << name;
    EXPECT_THAT(shown(form->render(turns)), testing::Not(testing::HasSubstr("[‹A›"))) << name;
  }
  const auto marked = own(template_file("marked"));
  EXPECT_EQ(shown(marked->render(turns)), without_first(shown(marked->render(rounds))));
}

// Of the answer its words, not the header that nobody asks for.
TEST(OwnFormat, AConversationMayBeginWithTheAssistant) {
  const std::vector<ChatTurn> turns = {{"assistant", "Hello"}, {"user", "U"}, {"assistant", "A"}};
  for (const std::string file : {"chatml", "zephyr", "llama3"}) {
    // Some templates write a system turn of their own in front.
    EXPECT_THAT(shown(own(template_file(file))->render(turns)),
                testing::EndsWith(shown(built_in(file)->render(turns))))
        << file;
  }
}

// Qwen3's way: thoughts are kept in the last turn and taken out of earlier ones.
TEST(OwnFormat, TrainsOnTheLastAnswerAloneWhereEarlierOnesAreChanged) {
  const auto format = own(template_file("thinking"));
  EXPECT_TRUE(format->last_answer_only());
  EXPECT_EQ(shown(format->render(one_round)),
            "<|im_start|>user\n‹U›<|im_end|>\n<|im_start|>assistant\n[<think>\n\n</"
            "think>\n\n][‹A›][<|im_end|>]\n");
  EXPECT_EQ(shown(format->render(rounds)),
            "<|im_start|>system\n‹S›<|im_end|>\n<|im_start|>user\n‹U›<|im_end|>\n<|im_start|>"
            "assistant\n‹A›"
            "<|im_end|>\n<|im_start|>user\n‹V›<|im_end|>\n<|im_start|>assistant\n[<think>\n\n</"
            "think>\n\n][‹B›]"
            "[<|im_end|>]\n");
  const auto silent = own(template_file("thinking"), {{"enable_thinking", false}});
  EXPECT_EQ(shown(silent->render(one_round)),
            "<|im_start|>user\n‹U›<|im_end|>\n<|im_start|>assistant\n<think>\n\n</"
            "think>\n\n[‹A›][<|im_end|>]\n");
}

TEST(OwnFormat, RefusesWhatCannotBeTold) {
  // It asks for thoughts, and writes answers without.
  const std::string source =
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
      "{% if add_generation_prompt %}<assistant><think>{% endif %}";
  auto format = own_format(source, llama_tokens, {});
  ASSERT_FALSE(format.has_value());
  EXPECT_TRUE(
      format.error().what.starts_with("the template writes the assistant's turn differently"));
  EXPECT_NE(format.error().hint.find("built-in prompt forms"), std::string::npos);
  // What it does to earlier answers by what is in them shows only with the conversation.
  const auto cuts =
      own("{% for m in messages %}<{{ m.role }}>{{ m.content if loop.last or m.role == 'user' else "
          "m.content.split('#')[-1] }}</s>{% endfor %}{% if add_generation_prompt %}<assistant>{% "
          "endif %}");
  EXPECT_EQ(joined(cuts->render(rounds)),
            "<system>S</s><user>U</s><assistant>A</s><user>V</s><assistant>B</s>");
  const std::vector<ChatTurn> thoughtful = {
      {"user", "U"}, {"assistant", "x#A"}, {"user", "V"}, {"assistant", "B"}};
  EXPECT_TRUE(
      shown(cuts->render(thoughtful))
          .starts_with(
              "the model's chat template, turn 2: the template writes this answer differently"))
      << shown(cuts->render(thoughtful));
}

TEST(OwnFormat, AnAnswerWithoutAnEndGetsTheEndOfSequence) {
  const std::string source =
      "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ '\\n' }}{% endfor %}"
      "{% if add_generation_prompt %}assistant: {% endif %}";
  const auto format = own(source);
  EXPECT_EQ(shown(format->render(std::span(rounds).subspan(1))),
            "user: ‹U›\nassistant: [‹A›][</s>]\nuser: ‹V›\nassistant: [‹B›][</s>]\n");
  EXPECT_EQ(shown(format->prompt(std::span(rounds).subspan(1, 3))),
            "user: ‹U›\nassistant: ‹A›</s>\nuser: ‹V›\nassistant: ");
  EXPECT_EQ(format->ends(), std::vector<std::string>{"</s>"});
  EXPECT_FALSE(own_format(source, {}, {}).has_value());
}

TEST(OwnFormat, ErrorsNameTheLineAndTheRemedy) {
  auto refused = own_format("a\n{% include 'x' %}", llama_tokens, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().where, "the model's chat template, line 2");
  EXPECT_EQ(refused.error().what, "{% include %} is not supported");
  EXPECT_NE(refused.error().hint.find("chatml"), std::string::npos);
  EXPECT_TRUE(shown(own(template_file("instruct"))
                        ->render(std::vector<ChatTurn>{{"user", "U"}, {"tool", "T"}}))
                  .starts_with("the model's chat template, line 1: the template refuses this "
                               "conversation: only user"));
  EXPECT_FALSE(own_format("{{ messages }}", llama_tokens, {{"messages", 1}}).has_value());
  EXPECT_FALSE(own_format("says nothing", llama_tokens, {}).has_value());
}

TEST(OwnFormat, VariablesAndTokensDecideTheTextAndTheDigest) {
  const std::string source = template_file("llama3");
  const std::vector<ChatTurn> turns = {{"system", "S"}, {"user", "U"}};
  const auto plain = own(source);
  const auto dated = own(source, {{"date_string", "1 May 2031"}});
  EXPECT_NE(joined(plain->prompt(turns)).find("Today Date: 26 Jul 2024\n"), std::string::npos);
  EXPECT_NE(joined(dated->prompt(turns)).find("Today Date: 1 May 2031\n"), std::string::npos);
  EXPECT_NE(plain->digest_text(), dated->digest_text());
  EXPECT_NE(plain->digest_text(), own(source, {}, {"<b>", "</s>", "", ""})->digest_text());
  EXPECT_EQ(plain->digest_text(), own(source)->digest_text());
  const json::object tools{
      {"tools", json::array{json::object{
                    {"function", json::object{{"parameters",
                                               json::object{{"properties", json::object{}}}}}}}}}};
  EXPECT_TRUE(joined(own(template_file("tools"), tools)->prompt(turns))
                  .starts_with("<|im_start|>system\n# Tools\n"));
}

// Whatever people write: the pieces are the rendering, and their words are no markup.
TEST(OwnFormat, PiecesJoinedAreTheRendering) {
  const std::vector<std::string> words = {"hi",      " there\n", "<|im_end|>", "</s>", "é 日本",
                                          "{{ x }}", "",         "{% if %}",   "\t",   "<think>"};
  std::mt19937 random(7);
  const auto word = [&] { return words[random() % words.size()] + words[random() % words.size()]; };
  for (const std::string file :
       {"chatml", "zephyr", "llama3", "thinking", "marked", "instruct", "tools"}) {
    const std::string source = template_file(file);
    const auto format = own(source);
    for (int i = 0; i < 60; ++i) {
      std::vector<ChatTurn> turns;
      json::array messages;
      std::size_t theirs = 0;
      for (std::size_t round = 0; round <= random() % 3; ++round) {
        turns.push_back({"user", word()});
        turns.push_back({"assistant", word()});
      }
      for (const ChatTurn& turn : turns) {
        messages.push_back(json::object{{"role", turn.role}, {"content", turn.content}});
        theirs += turn.content.size();
      }
      auto pieces = format->render(turns);
      ASSERT_TRUE(pieces.has_value()) << file << ": " << pieces.error().message();
      EXPECT_EQ(
          joined(pieces),
          jinja::rendered(source, json::serialize(json::object{{"messages", messages},
                                                               {"bos_token", "<s>"},
                                                               {"eos_token", "</s>"},
                                                               {"add_generation_prompt", false}})));
      std::size_t kept = 0;
      for (const PromptPiece& piece : *pieces) {
        EXPECT_FALSE(piece.text.empty());
        kept += piece.markup ? 0 : piece.text.size();
      }
      if (file == "chatml" || file == "marked" || file == "zephyr") {
        EXPECT_EQ(kept, theirs) << file;
      }
    }
  }
}

}  // namespace
}  // namespace trainward::trainer
