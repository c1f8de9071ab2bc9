// trainwardctl classify: a log in, class, ladder and the deciding line out; no daemon needed.
#include <fstream>

#include "common/base/json/json.hpp"
#include "fixture.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ClassifyTest : public CtlTest {};

TEST_F(ClassifyTest, ShowsClassLadderAndTheDecidingLine) {
  const Ran ran = ctl({"classify", write_log("step 1 loss 3\n"
                                             "torch.OutOfMemoryError: CUDA out of memory.\n"
                                             "RuntimeError: Connection reset by peer\n")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("device_oom: the device's memory is full\n"),
                             HasSubstr("remedy  retry, a smaller plan (6 times)"),
                             HasSubstr("line 2: torch.OutOfMemoryError: CUDA out of memory."),
                             HasSubstr("Further evidence"), HasSubstr("network")));
}

TEST_F(ClassifyTest, AHealthyLogIsNoFault) {
  const Ran ran = ctl({"classify", write_log("step 1 loss 3\nstep 2 loss 2\n")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "benign: nothing here says that it failed\n");
  EXPECT_EQ(ctl({"classify", write_log("")}).out, "benign: nothing here says that it failed\n");
}

TEST_F(ClassifyTest, JsonHasTheWholeVerdict) {
  const json::object found =
      as_json({"classify", write_log("x\nOSError: No space left on device\n")});
  EXPECT_EQ(found.at("class").as_string(), "disk");
  EXPECT_EQ(found.at("remedy").as_string(), "retry");
  EXPECT_EQ(found.at("transient").as_string(), "yes");
  EXPECT_EQ(found.at("ladder"), (json::array{"retry"}));
  EXPECT_EQ(found.at("line_number").as_int64(), 2);
  EXPECT_EQ(found.at("lines").as_int64(), 2);
  EXPECT_TRUE(found.at("failed").as_bool());
  const auto& evidence = found.at("evidence").as_array().at(0).as_object();
  EXPECT_EQ(evidence.at("rule").as_string(), "disk-full");
  EXPECT_EQ(evidence.at("weight").as_int64(), 60);
}

TEST_F(ClassifyTest, TheEndingIsEvidence) {
  const std::string empty = write_log("");
  EXPECT_EQ(as_json({"classify", empty, "--signal", "SIGKILL"}).at("class").as_string(), "killed");
  EXPECT_EQ(as_json({"classify", empty, "--exit-code", "135"}).at("class").as_string(), "crash");
  EXPECT_EQ(as_json({"classify", empty, "--exit-code", "78"}).at("class").as_string(), "config");
  EXPECT_EQ(as_json({"classify", empty, "--exit-code", "0"}).at("class").as_string(), "benign");
  EXPECT_EQ(ctl({"classify", empty, "--signal", "SIGNOTHING"}).code, 2);
  EXPECT_EQ(ctl({"classify", empty, "--exit-code", "300"}).code, 2);
  EXPECT_EQ(ctl({"classify", empty, "--exit-code", "1", "--signal", "9"}).code, 2);
}

TEST_F(ClassifyTest, RulesOfOnesOwnAreTried) {
  const auto rules = folder_ / "my.yaml";
  std::ofstream(rules) << "rules: [{id: mine, class: data, match: 'my loader gave up'}]\n";
  const std::string log = write_log("my loader gave up\n");
  EXPECT_EQ(as_json({"classify", log}).at("class").as_string(), "benign");
  EXPECT_EQ(as_json({"classify", log, "--rules", rules.string()}).at("class").as_string(), "data");
  std::ofstream(rules) << "rules: [{id: mine, class: data, match: '(a'}]\n";
  const Ran wrong = ctl({"classify", log, "--rules", rules.string()});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("my.yaml:1:"), HasSubstr("not a valid regular")));
}

TEST_F(ClassifyTest, WhatCannotBeReadIsNamed) {
  const Ran none = ctl({"classify", (folder_ / "none.log").string()});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("none.log"), HasSubstr("No such file")));
  EXPECT_THAT(ctl({"classify", folder_.string()}).err, HasSubstr("Is a directory"));
  EXPECT_EQ(ctl({"classify"}).code, 2);
}

TEST(SignalNumber, TakesNamesAndNumbers) {
  EXPECT_EQ(signal_number("SIGKILL"), 9);
  EXPECT_EQ(signal_number("segv"), 11);
  EXPECT_EQ(signal_number("15"), 15);
  EXPECT_EQ(signal_number("0"), std::nullopt);
  EXPECT_EQ(signal_number("x"), std::nullopt);
}

}  // namespace
}  // namespace trainward::ctl
