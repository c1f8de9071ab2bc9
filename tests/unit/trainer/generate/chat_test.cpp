// A conversation, line by line, with a model that was made up.
#include "trainer/worker/commands/chat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "common/protocol/protocol.hpp"
#include "generate/made_folders.hpp"
#include "temporary_folder.hpp"
#include "trainer/worker/commands/generate.hpp"

namespace trainward::trainer {
namespace {

using ::testing::HasSubstr;

class NobodyAsks final : public Requests {
 public:
  [[nodiscard]] bool stop_requested() const override { return stop; }
  bool take_save_request() override { return false; }
  bool stop = false;
};

class ChatTest : public ::testing::Test {
 protected:
  ChatTest() : base_(test::write_base(root_.path())) {
    options_.speaker.model = base_.string();
    options_.sampling.temperature = 0;
    options_.tokens = 6;
  }
  int run(std::deque<std::string> lines) {
    out_.clear();
    err_.clear();
    const ChatPorts chat{command_,
                         [&]() -> std::optional<std::string> {
                           if (lines.empty()) return std::nullopt;
                           std::string line = std::move(lines.front());
                           lines.pop_front();
                           return line;
                         },
                         [this] { return interrupt_after_ > 0 && --interrupt_after_ == 0; },
                         terminal_};
    return run_chat(options_, chat);
  }
  // What the model says to a question that is the first.
  std::string answer(const std::string& question, const std::string& system = {}) {
    GenerateOptions options;
    options.speaker = options_.speaker;
    options.sampling = options_.sampling;
    options.tokens = options_.tokens;
    options.chat = true;
    options.prompt = question;
    options.system = system;
    out_.clear();
    EXPECT_EQ(run_generate(options, command_), exit_code::done) << err_;
    return out_;
  }

  TemporaryFolder root_;
  std::filesystem::path base_;
  NobodyAsks requests_;
  ChatOptions options_;
  bool terminal_ = false;
  int interrupt_after_ = 0;
  std::string out_, err_;
  CommandPorts command_{requests_, [this](std::string_view text) { out_ += text; },
                        [this](std::string_view text) { err_ += text; }, [] { return 0; },
                        [] { return ProgressBar::Time(); }};
};

TEST_F(ChatTest, AnswersEachLineInItsTurn) {
  const std::string first = answer("Hi");
  EXPECT_EQ(run({"Hi"}), exit_code::done) << err_;
  EXPECT_EQ(out_, first);
  // A second turn has the first before it.
  EXPECT_EQ(run({"Hi", "", "yo"}), exit_code::done) << err_;
  EXPECT_TRUE(out_.starts_with(first));
  const std::string both = out_;
  // After a reset, it is the first again.
  const std::string other = answer("yo");
  EXPECT_NE(both, first + other);
  EXPECT_EQ(run({"Hi", "/reset", "yo", "/quit", "never"}), exit_code::done) << err_;
  EXPECT_EQ(out_, first + other);
}

TEST_F(ChatTest, IsToldWhatTheModelIs) {
  const std::string plain = answer("Hi");
  const std::string brief = answer("Hi", "Be brief.");
  EXPECT_NE(plain, brief);
  EXPECT_EQ(run({"/system Be brief.", "Hi", "/reset", "/system", "Hi"}), exit_code::done) << err_;
  EXPECT_EQ(out_, brief + plain);
  options_.system = "Be brief.";
  EXPECT_EQ(run({"Hi"}), exit_code::done) << err_;
  EXPECT_EQ(out_, brief);
}

TEST_F(ChatTest, KnowsItsCommands) {
  EXPECT_EQ(run({"/help", "/rest"}), exit_code::done);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, HasSubstr("/reset starts over"));
  EXPECT_THAT(err_, HasSubstr("There is no command '/rest'"));
  terminal_ = true;
  EXPECT_EQ(run({}), exit_code::done);
  EXPECT_THAT(err_, HasSubstr("room for 300 tokens"));
  EXPECT_THAT(err_, HasSubstr("> "));
}

TEST_F(ChatTest, AnInterruptEndsTheAnswerAlone) {
  const std::string whole = answer("Hi");
  interrupt_after_ = 3;
  EXPECT_EQ(run({"Hi", "/reset", "Hi"}), exit_code::done) << err_;
  EXPECT_TRUE(out_.ends_with("\n" + whole)) << out_;
  EXPECT_LT(out_.size(), 2 * whole.size());
  requests_.stop = true;
  EXPECT_EQ(run({"Hi"}), exit_code::try_again);
  EXPECT_EQ(out_, "");
}

TEST_F(ChatTest, AConversationThatIsTooLongSaysSo) {
  const std::string first = answer("yo");
  terminal_ = true;
  EXPECT_EQ(run({std::string(400, 'x'), "yo"}), exit_code::done);
  EXPECT_EQ(out_, first);  // as if it had not been said
  EXPECT_THAT(err_, HasSubstr("there is room for 300"));
  EXPECT_THAT(err_, HasSubstr("/reset"));
  terminal_ = false;
  EXPECT_EQ(run({std::string(400, 'x'), "yo"}), exit_code::configuration);
  EXPECT_EQ(out_, "");
}

TEST_F(ChatTest, SaysWhatIsWrong) {
  options_.speaker.model = "/nowhere";
  EXPECT_EQ(run({"Hi"}), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("/nowhere"));
  options_.speaker.model = base_.string();
  options_.speaker.format = "lama3";
  EXPECT_EQ(run({"Hi"}), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("llama3"));
  options_.speaker.format.clear();
  options_.speaker.tokenizer = "byte";  // which nothing ends
  EXPECT_EQ(run({"Hi"}), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("--format"));
}

}  // namespace
}  // namespace trainward::trainer
