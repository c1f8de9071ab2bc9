// What the ckpt commands print, from documents that the API or the library gave.
#include "fixture.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/json_of_checkpoints.hpp"

namespace trainward::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(FormatCheckpoints, MarksHaveAColumnOnlyWhenThereAreAny) {
  json::array rows{{{"step", 20}, {"path", "/c/step-00000020"}, {"latest", true}, {"pinned", true}},
                   {{"step", 10}, {"path", "/c/step-00000010"}}};
  const std::string text = format_checkpoints(rows, now_ms, {});
  EXPECT_THAT(text, HasSubstr("MARK"));
  EXPECT_THAT(text, HasSubstr("latest, pinned  /c/step-00000020"));
  rows.erase(rows.begin());
  EXPECT_THAT(format_checkpoints(rows, now_ms, {}), Not(HasSubstr("MARK")));
}

TEST(FormatCheckpoints, OfNothingAndOfNonsenseIsNoFailure) {
  for (const json::object& nonsense :
       {json::object{}, json::object{{"sections", 1}, {"steps", {1, "x"}}, {"tensors", nullptr}}}) {
    EXPECT_THAT(format_checkpoint(nonsense, now_ms, {}), HasSubstr("pinned  no"));
    EXPECT_THAT(format_diff(nonsense, {}), HasSubstr("The same"));
    EXPECT_THAT(format_repair(nonsense, {}), HasSubstr("No good checkpoint"));
  }
}

TEST(FormatCheckpoints, TextFromACheckpointCannotDriveTheTerminal) {
  checkpoint::Inspection found;
  found.state.run = "\x1b[2J";
  found.pin = "\x1b]0;owned\x07";
  found.state.extra = {{"k", "\x1b"}};
  found.sections = {{"model", {{{"\x1b[31m", checkpoint::DType::f32, {1}}, "f"}}, {"f"}}};
  const std::string text = format_checkpoint(json_of(found, true), now_ms, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  checkpoint::Diff diff;
  diff.tensors.push_back({checkpoint::TensorDifference::Kind::values, "model", "\x1b[31m",
                          std::nullopt, std::nullopt, 1, 1, std::nullopt, std::nullopt});
  diff.state.push_back({"extra.\x1b", "\x1b[2J", nullptr});
  EXPECT_THAT(format_diff(json_of(diff, "a", "b"), {}), Not(HasSubstr("\x1b")));
  checkpoint::Repair repair;
  repair.steps.push_back({checkpoint::Repair::Action::set_aside, "\x1b", "\x1b", "\x1b", ""});
  EXPECT_THAT(format_repair(json_of(repair, "a", false), {}), Not(HasSubstr("\x1b")));
}

TEST(JsonOfCheckpoints, WhatIsNoNumberIsText) {
  checkpoint::Diff diff;
  diff.tensors.push_back({checkpoint::TensorDifference::Kind::values, "model", "x",
                          checkpoint::TensorInfo{"x", checkpoint::DType::f32, {2, 3}}, std::nullopt,
                          6, 1, std::numeric_limits<double>::infinity(), 0.5});
  const json::value parsed = json::parse(json::serialize(json_of(diff, "a", "b")));
  EXPECT_EQ(parsed.at("tensors").at(0).at("largest_absolute"), "inf");
  EXPECT_EQ(parsed.at("tensors").at(0).at("first").at("shape").at(1), 3);
  EXPECT_TRUE(parsed.at("tensors").at(0).at("second").is_null());
  checkpoint::Summary summary;
  summary.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(json::parse(json::serialize(json_of(summary))).at("loss"), "nan");
}

TEST_F(CtlTest, CkptVerbsTakeTheirOptionsBeforeAndAfter) {
  const std::string none = (folder_ / "none").string();
  EXPECT_EQ(ctl({"ckpt", "repair", "--dry-run", none}).code, 1);
  EXPECT_EQ(ctl({"ckpt", "repair", none, "--dry-run", "--json"}).code, 1);
  EXPECT_EQ(ctl({"ckpt", "prune", none, "--keep", "many"}).code, 2);
  EXPECT_EQ(ctl({"ckpt", "convert", none, none, "--type", "BF16", "--shard-size", "5 GB"}).code, 1);
  EXPECT_THAT(ctl({"ckpt", "unpn", none}).err, HasSubstr("did you mean 'unpin'?"));
}

}  // namespace
}  // namespace trainward::ctl
