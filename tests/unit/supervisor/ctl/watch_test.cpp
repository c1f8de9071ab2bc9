// trainwardctl watch: a log in; what would be seen in it and the YAML for it out.
#include <fstream>

#include "common/base/json/json.hpp"
#include "fixture.hpp"

namespace trainward::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class WatchTest : public CtlTest {};

const std::string nanogpt =
    "compiling the model...\n"
    "iter 10: loss 9.5000, time 311.72ms, mfu 41.22%\n"
    "iter 20: loss 8.7500, time 310.91ms, mfu 41.24%\n"
    "step 20: train loss 8.6, val loss 8.75\n"
    "iter 30: loss 8.2500, time 310.91ms, mfu 41.24%\n";

TEST_F(WatchTest, ShowsWhatIsReadAndTheConfigurationForIt) {
  const Ran ran = ctl({"watch", write_log(nanogpt)});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("recognised the output of nanoGPT: step, loss, MFU\n"),
                             HasSubstr("4 of 5 lines read: steps 10 to 30, 3 steps; 1 evaluation"),
                             HasSubstr("watch: {preset: nanogpt}"),
                             HasSubstr("- {match: '^iter (?P<step>\\d+): loss (?P<loss>")));
}

TEST_F(WatchTest, ARuleThatWouldSayLessIsNotShown) {
  const Ran ran = ctl({"watch", write_log("step=1, skipped=0, lr=[1e-05]\nstep=2, skipped=0, "
                                          "lr=[1e-05]\nsteps: 3 loss: 2.5 iter time (s): 1.2\n")});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("watch: {preset: deepspeed}"), Not(HasSubstr("match:"))));
}

TEST_F(WatchTest, SaysThatNothingIsRecognised) {
  const Ran ran = ctl({"watch", write_log("hello\nstep 1 loss 3\n")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("no steps are recognised in 2 lines"),
                             HasSubstr("not enough"), HasSubstr("step 1 loss 3")));
}

TEST_F(WatchTest, JsonHasAllOfIt) {
  const json::object found = as_json({"watch", write_log(nanogpt)});
  EXPECT_EQ(found.at("format"), "nanogpt");
  EXPECT_EQ(found.at("lines"), 5);
  EXPECT_EQ(found.at("lines_read"), 4);
  EXPECT_EQ(found.at("steps"), 3);
  EXPECT_EQ(found.at("first_step"), 10);
  EXPECT_EQ(found.at("last_step"), 30);
  EXPECT_EQ(found.at("evaluations"), 1);
  const json::object& row = found.at("rows").as_array().at(0).as_object();
  EXPECT_EQ(row.at("line_number"), 2);
  EXPECT_EQ(row.at("step"), 10);
  EXPECT_EQ(row.at("loss"), 9.5);
  EXPECT_TRUE(row.at("learning_rate").is_null());
  EXPECT_TRUE(as_json({"watch", write_log("x\n")}).at("format").is_null());
  EXPECT_EQ(as_json({"watch", write_log(nanogpt), "--preset", "keras"}).at("steps"), 0);
}

TEST_F(WatchTest, WrongUseIsSaid) {
  EXPECT_EQ(ctl({"watch"}).code, 2);
  EXPECT_EQ(ctl({"watch", write_log("x\n"), "--preset", "nonsense"}).code, 2);
  EXPECT_EQ(ctl({"watch", (folder_ / "none.log").string()}).code, 1);
}

}  // namespace
}  // namespace trainward::ctl
