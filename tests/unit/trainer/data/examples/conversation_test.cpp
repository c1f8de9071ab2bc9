#include "trainer/data/examples/conversation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/data/json_rows.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// "role: content|role: content", with ! at what is not to be learned; or the text.
std::string told(std::string_view row, const Columns& columns = {}) {
  auto value = parse_json(row, "");
  if (!value) return value.error().what;
  auto conversation = conversation_of_row(*value, columns);
  if (!conversation) {
    EXPECT_EQ(conversation.error().kind, ErrorKind::corrupt);
    return conversation.error().what;
  }
  if (conversation->turns.empty()) return "text: " + conversation->text;
  std::string words;
  for (const ChatTurn& turn : conversation->turns) {
    words += (words.empty() ? "" : "|") + turn.role + (turn.trained ? ": " : "!: ") + turn.content;
  }
  return words;
}

TEST(ConversationTest, Pairs) {
  EXPECT_EQ(told(R"({"prompt": "2+2?", "response": "4", "id": 3})"), "user: 2+2?|assistant: 4");
  EXPECT_EQ(told(R"({"prompt": "2+2?", "completion": "4"})"), "user: 2+2?|assistant: 4");
  EXPECT_EQ(told(R"({"system": "Count.", "prompt": "2+2?", "response": "4"})"),
            "system: Count.|user: 2+2?|assistant: 4");
  EXPECT_EQ(told(R"({"prompt": "", "response": "4"})"), "user: |assistant: 4");
  EXPECT_EQ(told(R"({"prompt": [{"role": "user", "content": "a"}],
                     "completion": [{"role": "assistant", "content": "b"}]})"),
            "user: a|assistant: b");
}

TEST(ConversationTest, Messages) {
  EXPECT_EQ(
      told(R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
                     {"role": "assistant", "content": "b"}, {"role": "tool", "content": "c"},
                     {"role": "Assistant", "content": "d"}]})"),
      "system: s|user: a|assistant: b|tool: c|assistant: d");
  EXPECT_EQ(told(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"},
                     {"type": "text", "text": "b"}]}, {"role": "assistant", "content": "c"}]})"),
            "user: ab|assistant: c");
  EXPECT_EQ(
      told(
          R"({"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]})"),
      "user: a|assistant: b");
  EXPECT_EQ(told(R"({"conversations": [{"role": "user", "content": "a"},
                     {"role": "assistant", "content": "b"}]})"),
            "user: a|assistant: b");
}

TEST(ConversationTest, WhatFollowsTheLastAnswerIsLeftOut) {
  EXPECT_EQ(told(R"({"messages": [{"role": "user", "content": "a"},
                     {"role": "assistant", "content": "b"}, {"role": "user", "content": "thanks"}]})"),
            "user: a|assistant: b");
}

TEST(ConversationTest, TextComesLast) {
  EXPECT_EQ(told(R"({"text": "all"})"), "text: all");
  EXPECT_EQ(told(R"({"text": "all", "instruction": "a", "output": "b"})"), "user: a|assistant: b")
      << "Alpaca's own files have both";
}

TEST(ConversationTest, ColumnsRenameMembersAndChooseTheForm) {
  EXPECT_EQ(
      told(R"({"question": "a", "answer": "b"})", {{"prompt", "question"}, {"response", "answer"}}),
      "user: a|assistant: b");
  EXPECT_EQ(told(R"({"question": "a", "output": "b"})", {{"instruction", "question"}}),
            "user: a|assistant: b");
  EXPECT_EQ(told(R"({"messages": [], "body": "b"})", {{"text", "body"}}), "text: b");
  EXPECT_THAT(told(R"({"prompt": "a", "response": "b"})", {{"text", "body"}}),
              HasSubstr("none of the members that column_mapping names"));
  EXPECT_THAT(told(R"({"question": "a"})", {{"prompt", "question"}, {"response", "answer"}}),
              HasSubstr("has no 'answer'"));
}

TEST(ConversationTest, AMisspeltColumnIsNamed) {
  auto wrong = check_columns({{"promt", "q"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_THAT(wrong.error().hint, HasSubstr("'prompt'"));
  EXPECT_FALSE(check_columns({{"prompt", ""}}));
  EXPECT_TRUE(check_columns({{"prompt", "q"}, {"response", "a"}}));
}

TEST(ConversationTest, ARowWithoutAnAnswerIsAnError) {
  EXPECT_THAT(told(R"({"prompt": "a"})"), HasSubstr("has no 'response'"));
  EXPECT_THAT(told(R"({"response": "a"})"), HasSubstr("has no 'prompt'"));
  EXPECT_THAT(told(R"({"instruction": "a"})"), HasSubstr("has no 'output'"));
  EXPECT_THAT(told(R"({"prompt": "a", "response": null})"), HasSubstr("has no 'response'"));
  EXPECT_THAT(told(R"({"prompt": "a", "response": " "})"), HasSubstr("empty answer"));
  EXPECT_THAT(told(R"({"messages": [{"role": "user", "content": "a"}]})"), HasSubstr("no answer"));
  EXPECT_THAT(told(R"({"messages": []})"), HasSubstr("no answer"));
  EXPECT_THAT(told(R"({"text": ""})"), HasSubstr("'text' is empty"));
}

TEST(ConversationTest, SaysWhatIsWrong) {
  EXPECT_THAT(told("[1]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(told(R"({"title": "a"})"), HasSubstr("none of 'messages'"));
  EXPECT_THAT(told(R"({"prompt": 3, "response": "a"})"),
              HasSubstr("'prompt' is a number, not text"));
  EXPECT_THAT(told(R"({"messages": "a"})"), HasSubstr("'messages' is text, not a list"));
  EXPECT_THAT(told(R"({"messages": [3]})"), HasSubstr("'messages', turn 1, is a number"));
  EXPECT_THAT(told(R"({"messages": [{"content": "a"}]})"), HasSubstr("does not say its role"));
  EXPECT_THAT(told(R"({"messages": [{"role": "poet", "content": "a"}]})"), HasSubstr("'poet'"));
  EXPECT_THAT(told(R"({"messages": [{"role": "user"}]})"), HasSubstr("turn 1, has no content"));
  EXPECT_THAT(told(R"({"messages": [{"role": "user", "content": 7}]})"), HasSubstr("is a number"));
  EXPECT_THAT(told(R"({"text": 3})"), HasSubstr("'text' is a number"));
}

TEST(ConversationTest, WhatIsNotTrainedOnIsRefusedByName) {
  EXPECT_THAT(told(R"({"prompt": "a", "chosen": "b", "rejected": "c"})"), HasSubstr("preference"));
  EXPECT_THAT(told(R"({"prompt": "a", "completion": "b", "label": true})"),
              HasSubstr("preference"));
  EXPECT_THAT(told(R"({"tools": [{}], "messages": []})"), HasSubstr("'tools'"));
  EXPECT_EQ(told(R"({"tools": [], "prompt": "a", "response": "b"})"), "user: a|assistant: b")
      << "none are there";
  EXPECT_THAT(told(R"({"images": ["x.png"], "messages": []})"), HasSubstr("'images'"));
  EXPECT_THAT(told(R"({"messages": [{"role": "assistant", "content": "", "tool_calls": [{}]}]})"),
              HasSubstr("'tool_calls'"));
  EXPECT_THAT(told(R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
              HasSubstr("'image_url'"));
}

// In the words of OpenAI, axolotl and ms-swift.
TEST(ConversationTest, TurnsThatAreNotToBeLearnedAreMarked) {
  for (const std::string mark :
       {R"("weight": 0)", R"("weight": 0.0)", R"("train": false)", R"("loss": false)"}) {
    const std::string bad = R"({"role": "assistant", "content": "bad", )" + mark + "}";
    const std::string good = R"({"role": "assistant", "content": "good", "weight": 1})";
    const std::string user = R"({"role": "user", "content": "a"})";
    const auto row = [](const std::string& turns) { return R"({"messages": [)" + turns + "]}"; };
    EXPECT_EQ(told(row(user + "," + bad + "," + user + "," + good)),
              "user: a|assistant!: bad|user: a|assistant: good");
    EXPECT_EQ(told(row(user + "," + good + "," + user + "," + bad)), "user: a|assistant: good")
        << "what follows teaches nothing";
    EXPECT_THAT(told(row(user + "," + bad)), HasSubstr("each is marked as not to be trained on"));
  }
  EXPECT_EQ(told(R"({"conversations": [{"from": "human", "value": "a", "weight": 0},
                     {"from": "gpt", "value": "b", "weight": 1}]})"),
            "user!: a|assistant: b");
}

TEST(ConversationTest, MarksThatCannotBeHonouredAreRefusedByName) {
  const auto with = [](const std::string& role, const std::string& member) {
    return told(R"({"messages": [{"role": ")" + role + R"(", "content": "a", )" + member +
                R"(}, {"role": "assistant", "content": "b"}]})");
  };
  EXPECT_THAT(with("assistant", R"("weight": 0.5)"), HasSubstr("turn 1, has 'weight': 5E-1"));
  EXPECT_THAT(with("assistant", R"("train": "no")"), HasSubstr("'train': \"no\""));
  EXPECT_THAT(with("user", R"("train": true)"), HasSubstr("only what the assistant says"));
  EXPECT_THAT(with("assistant", R"("reasoning_content": "c")"), HasSubstr("'reasoning_content'"));
  EXPECT_THAT(with("assistant", R"("train_detail": [{}])"), HasSubstr("'train_detail'"));
  EXPECT_EQ(with("user", R"("reasoning_content": "", "weight": null)"), "user: a|assistant: b");
}

TEST(ConversationTest, ASystemTurnBesideTheOthersIsOneOfThem) {
  EXPECT_EQ(told(R"({"system": "s", "messages": [{"role": "user", "content": "a"},
                     {"role": "assistant", "content": "b"}]})"),
            "system: s|user: a|assistant: b");
  EXPECT_EQ(told(R"({"system_prompt": "s", "conversations": [{"from": "human", "value": "a"},
                     {"from": "gpt", "value": "b"}]})"),
            "system: s|user: a|assistant: b");
  EXPECT_EQ(told(R"({"system": "s", "messages": [{"role": "system", "content": "s"},
                     {"role": "assistant", "content": "b"}]})"),
            "system: s|assistant: b");
  EXPECT_THAT(told(R"({"system": "s", "messages": [{"role": "system", "content": "t"},
                       {"role": "assistant", "content": "b"}]})"),
              HasSubstr("has 'system' beside another system turn"));
  EXPECT_EQ(told(R"({"rules": "s", "messages": [{"role": "assistant", "content": "b"}]})",
                 {{"system", "rules"}}),
            "system: s|assistant: b");
}

TEST(ConversationTest, IsBounded) {
  std::string row = R"({"messages": [)";
  for (std::size_t i = 0; i <= max_turns; ++i) row += R"({"role": "user", "content": ""},)";
  row.back() = ']';
  EXPECT_THAT(told(row + "}"), HasSubstr("more than 10000 turns"));
}

std::vector<std::string> elements(std::string_view file, std::string* error = nullptr) {
  JsonRows rows(file);
  std::vector<std::string> found;
  for (;;) {
    auto next = rows.next();
    if (!next && error != nullptr) *error = next.error().what;
    if (!next || !*next) break;
    found.emplace_back((*next)->text);
    EXPECT_EQ((*next)->number, static_cast<std::int64_t>(found.size()));
  }
  return found;
}

TEST(JsonRowsTest, ElementsOfAnArray) {
  EXPECT_THAT(elements(R"([{"a": "],["}, [1, 2], "x\"]" ,3 ])"),
              ElementsAre(R"({"a": "],["})", "[1, 2]", R"("x\"]" )", "3 "));
  EXPECT_THAT(elements("\xEF\xBB\xBF [ ] \n"), ElementsAre());
  EXPECT_TRUE(is_json_array("\xEF\xBB\xBF\n ["));
  EXPECT_FALSE(is_json_array("{\"a\": []}"));
  EXPECT_FALSE(is_json_array(""));
}

TEST(JsonRowsTest, WhatIsNoArrayIsSaidOnce) {
  std::string error;
  EXPECT_THAT(elements("[1, 2", &error), ElementsAre("1"));
  EXPECT_THAT(error, HasSubstr("the ']' is missing"));
  EXPECT_THAT(elements("{}", &error), ElementsAre());
  EXPECT_THAT(error, HasSubstr("no '['"));
  EXPECT_THAT(elements("[1] 2", &error), ElementsAre());
  EXPECT_THAT(error, HasSubstr("more behind"));
  EXPECT_THAT(elements("[\"a", &error), ElementsAre());
  EXPECT_THAT(elements("", &error), ElementsAre());
}

}  // namespace
}  // namespace trainward::trainer
