// A journal is followed piece by piece, with a turn for everybody else between two.
#include "supervisor/daemon/attempt_follower.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/launch.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

class AttemptFollowerTest : public testing::Test {
 protected:
  void append(const std::string& type, const std::string& fields) {
    std::ofstream(journal_, std::ios::app)
        << fmt::format("{{\"seq\":{},\"wall_ms\":1,\"mono_ms\":1,\"type\":\"{}\",{}}}\n",
                       ++sequence_, type, fields);
  }
  AttemptFollower follower() {
    return {services_,
            {"run", 1, folder_.path(), folder_.path() / "checkpoints", 0},
            {[this](const AttemptEvent& event) {
               if (const auto* done = std::get_if<core::StepDone>(&event.event)) {
                 heard_.push_back(done->step);
               }
             },
             [this] {
               ++caught_up_;
               loop_.stop();
             },
             [] {}}};
  }

  TemporaryFolder folder_;
  std::filesystem::path journal_ = folder_.path() / attempt_files::journal;
  int sequence_ = 0;
  std::vector<std::int64_t> heard_;
  int caught_up_ = 0;

  Loop loop_;
  store::Store store_ = store::Store::open(folder_.path() / "trainward.db").value();
  FileWatcher watcher_{loop_};
  Turns turns_{loop_, store_};
  CrashRules rules_{loop_, {}};
  Machine machine_{loop_};
  Background background_{loop_};
  Console console_{false};
  Services services_{loop_,    {folder_.path(), folder_.path()},
                     store_,   turns_,
                     rules_,   machine_,
                     watcher_, background_,
                     console_};
};

// The deadlines begin to count when everything is read; the last piece may say nothing.
TEST_F(AttemptFollowerTest, TellsThatItHasCaughtUpWhateverTheLastPieceSays) {
  constexpr std::int64_t steps = 400;
  for (std::int64_t step = 1; step <= steps; ++step) {
    append("message", fmt::format(R"("fields":{{"STEP":"{}","LOSS":"1"}})", step));
  }
  const auto rotation = [this] {
    append("rotated",
           fmt::format(R"("stream":"stdout","base":0,"pad":"{}")", std::string(900, 'x')));
  };
  for (int i = 0; i < 300; ++i) rotation();
  AttemptFollower attempt = follower();
  loop_.post(rotation);  // its journal is told to have changed
  loop_.run([] {});
  EXPECT_EQ(caught_up_, 1);
  EXPECT_FALSE(attempt.behind());
  ASSERT_EQ(heard_.size(), static_cast<std::size_t>(steps));
  for (std::int64_t step = 1; step <= steps; ++step) {
    EXPECT_EQ(heard_[static_cast<std::size_t>(step - 1)], step) << "each once, in order";
  }
}

}  // namespace
}  // namespace trainward::daemon
