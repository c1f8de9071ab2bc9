// Checkpoints into a Hub, without faults.
#include "common/base/json/json.hpp"
#include "fetch_into.hpp"
#include "fixture.hpp"

namespace trainward::upload::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Publish : public HubFixture {};

TEST_F(Publish, MakesARepositoryAndOneCommit) {
  const auto at = target();
  std::int64_t told = 0;
  const Package checkpoint = package("step-00000300", 300, 1);
  const auto done =
      at->publish(checkpoint, [&](std::int64_t bytes) { told = std::max(told, bytes); });
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(hub.repositories.at("me/run").visibility, "private");
  expect_there("step-00000300", 1);
  EXPECT_EQ(commits(), 1U);
  EXPECT_EQ(hub.history("me/run")[0].summary, "step-00000300 (step 300)");
  std::int64_t size = 0;
  for (const File& file : checkpoint.files) size += file.size;
  EXPECT_EQ(told, size);
  EXPECT_EQ(done->sent_bytes, 5'000 + 12'345);
  EXPECT_EQ(hub.bytes_stored, 5'000U + 12'345U);
  EXPECT_THAT(done->place, HasSubstr(hub.endpoint() + "/me/run/commit/"));
  const auto latest = parse_json(*hub.read("me/run", "main", "latest.json"), "");
  ASSERT_TRUE(latest);
  EXPECT_EQ(string_or(latest->as_object(), "folder", ""), "checkpoints/step-00000300");
  EXPECT_THAT(*hub.read("me/run", "main", "README.md"), HasSubstr("| step | 300 |"));
  EXPECT_THAT(memory.text(), Not(HasSubstr("step-")));
}

TEST_F(Publish, SendsNothingTwice) {
  const Package checkpoint = package("step-00000300", 300, 1);
  ASSERT_TRUE(target()->publish(checkpoint, {}));
  const auto again = target()->publish(checkpoint, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sent_bytes, 0);
  EXPECT_EQ(commits(), 1U);
}

TEST_F(Publish, ANewerOneTakesThePlace) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-00000300", 300, 1), {}));
  hub.commit("me/run", "notes.txt", "of a person\n");
  ASSERT_TRUE(at->publish(package("step-00000400", 400, 2), {}));
  expect_there("step-00000400", 2);
  EXPECT_FALSE(hub.read("me/run", "main", "checkpoints/step-00000300/state.json"));
  EXPECT_FALSE(hub.read("me/run", "main", "checkpoints/step-00000300.json"));
  EXPECT_EQ(hub.read("me/run", "main", "notes.txt"), "of a person\n");
  EXPECT_THAT(*hub.read("me/run", "main", "README.md"), HasSubstr("| step | 400 |"));
}

TEST_F(Publish, AMilestoneThatComesLateStaysBehindTheNewest) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-00000400", 400, 2), {}));
  Package milestone = package("step-00000300", 300, 1);
  milestone.milestone = "step 300";
  ASSERT_TRUE(at->publish(milestone, {}));
  expect_there("step-00000400", 2);
  expect_there("step-00000300", 1);
  expect_there("step-00000300", 1, "step-300");
  EXPECT_THAT(*hub.read("me/run", "main", "latest.json"), HasSubstr("step-00000400"));
  EXPECT_THAT(*hub.read("me/run", "main", "README.md"), HasSubstr("| step | 400 |"));
  // The next one makes it leave the branch; the tag keeps it, and it is not committed again.
  ASSERT_TRUE(at->publish(package("step-00000500", 500, 3), {}));
  EXPECT_FALSE(hub.read("me/run", "main", "checkpoints/step-00000300.json"));
  expect_there("step-00000300", 1, "step-300");
  ASSERT_TRUE(at->publish(milestone, {}));
  EXPECT_EQ(commits(), 3U);
}

TEST_F(Publish, ATagOfSomebodyElseStays) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-00000200", 200, 5), {}));
  auto& repository = hub.repositories.at("me/run");
  repository.tags["best"] = repository.branches["main"];
  Package milestone = package("step-00000300", 300, 1);
  milestone.milestone = "best";
  ASSERT_TRUE(at->publish(milestone, {}));
  ASSERT_TRUE(at->publish(milestone, {}));
  expect_there("step-00000200", 5, "best");
  ASSERT_EQ(repository.tags.size(), 2U);
  expect_there("step-00000300", 1, repository.tags.rbegin()->first);
}

TEST_F(Publish, SquashLeavesOneCommit) {
  orders::HubPlace place;
  place.history = "squash";
  const auto at = target(place);
  for (int step = 100; step < 500; step += 100) {
    Package one = package("step-" + std::to_string(step), step, static_cast<unsigned>(step));
    if (step == 200) one.milestone = "m200";
    ASSERT_TRUE(at->publish(one, {}));
  }
  EXPECT_EQ(hub.history("me/run").size(), 1U);
  expect_there("step-400", 400);
  expect_there("step-200", 200, "m200");
  EXPECT_TRUE(hub.repositories.at("me/run")
                  .commits.at(hub.repositories.at("me/run").tags.at("m200"))
                  .parent.empty());
}

TEST_F(Publish, WhatBecomesAMilestoneLaterGetsItsTag) {
  const auto at = target();
  Package one = package("step-1", 1, 1);
  ASSERT_TRUE(at->publish(one, {}));
  ASSERT_TRUE(at->publish(package("step-2", 2, 2), {}));
  one.milestone = "step-1";
  const auto tagged = at->publish(one, {});
  ASSERT_TRUE(tagged) << tagged.error().message();
  EXPECT_EQ(tagged->sent_bytes, 0);
  expect_there("step-1", 1, "step-1");
  expect_there("step-2", 2);
}

TEST_F(Publish, AnExportedModelLiesAtTheRoot) {
  const auto at = target();
  std::vector<Content> files = {
      {"README.md", "---\nlibrary_name: transformers\n---\n\n# run\n\none\n"},
      {"config.json", "{}\n"},
      {"model-00001-of-00002.safetensors", noise(900, 1)},
      {"model-00002-of-00002.safetensors", noise(800, 2)}};
  Package one = package_of(folder, "step-1", 1, files);
  one.form = "folder";
  ASSERT_TRUE(at->publish(one, {}));
  EXPECT_EQ(hub.read("me/run", "main", "model-00002-of-00002.safetensors"), noise(800, 2));
  const std::string card = *hub.read("me/run", "main", "README.md");
  EXPECT_THAT(card, ::testing::StartsWith("---\nlibrary_name: transformers\n---\n"));
  hub.commit("me/run", "README.md", card + "\nSaid by a person.\n");
  ASSERT_TRUE(at->publish(one, {}));
  files = {{"README.md", "---\nlibrary_name: transformers\n---\n\n# run\n\ntwo\n"},
           {"config.json", "{}\n"},
           {"model.safetensors", noise(900, 3)}};
  Package two = package_of(folder, "step-2", 2, files);
  two.form = "folder";
  ASSERT_TRUE(at->publish(two, {}));
  EXPECT_EQ(hub.read("me/run", "main", "model.safetensors"), noise(900, 3));
  EXPECT_FALSE(hub.read("me/run", "main", "model-00002-of-00002.safetensors"));
  EXPECT_THAT(*hub.read("me/run", "main", "README.md"), HasSubstr("two"));
  EXPECT_THAT(*hub.read("me/run", "main", "README.md"), HasSubstr("Said by a person."));
  EXPECT_EQ(commits(), 3U);  // one by hand
  const auto listed = at->list("trainer");
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().form, "folder");
  EXPECT_TRUE(at->verify("trainer", listed->front()));
}

TEST_F(Publish, AFileForTorchLoadLiesAtTheRoot) {
  const auto at = target();
  for (int step = 1; step < 3; ++step) {
    const std::string file = "pretrain_step0000000" + std::to_string(step) + ".pt";
    Package one = package_of(folder, "step-" + std::to_string(step), step,
                             {{file, noise(900, static_cast<unsigned>(step))}});
    one.form = "pytorch";
    ASSERT_TRUE(at->publish(one, {}));
  }
  EXPECT_EQ(hub.read("me/run", "main", "pretrain_step00000002.pt"), noise(900, 2));
  EXPECT_FALSE(hub.read("me/run", "main", "pretrain_step00000001.pt"));
  const auto listed = at->list("trainer");
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().form, "pytorch") << "nothing that a new box goes on from";
}

TEST_F(Publish, NamesThatNoPatternHasGetOneOnce) {
  const auto at = target();
  for (int step = 1; step < 4; ++step) {
    ASSERT_TRUE(at->publish(package_of(folder, "step-" + std::to_string(step), step,
                                       {{"__0_0.distcp", noise(400, static_cast<unsigned>(step))},
                                        {"__1_0.distcp", noise(300, static_cast<unsigned>(step))},
                                        {"rng", noise(30, static_cast<unsigned>(step))},
                                        {".metadata", "text\n"}}),
                            {}));
  }
  const std::string attributes = *hub.read("me/run", "main", ".gitattributes");
  EXPECT_THAT(attributes,
              ::testing::EndsWith("-text\n*.distcp filter=lfs diff=lfs merge=lfs -text\n"
                                  "rng filter=lfs diff=lfs merge=lfs -text\n"));
  EXPECT_THAT(attributes, Not(HasSubstr("step-")));
}

TEST_F(Publish, ASmallBinaryFileIsAnObject) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package_of(folder, "a", 1, {{"rng_state.dat", noise(20, 1)}}), {}));
  EXPECT_FALSE(hub.history("me/run")[0].tree.at("checkpoints/a/rng_state.dat").sha256.empty());
}

TEST_F(Publish, TwoFilesWithTheSameBytesGoUpOnce) {
  ASSERT_TRUE(target()->publish(
      package_of(folder, "a", 1, {{"one.pt", noise(500, 1)}, {"two.pt", noise(500, 1)}}), {}));
  EXPECT_EQ(hub.bytes_stored, 500U);
  EXPECT_EQ(hub.read("me/run", "main", "checkpoints/a/two.pt"), noise(500, 1));
}

TEST_F(Publish, NamesOfEveryKindArrive) {
  const std::vector<Content> files = {{"a b/ü%20?#&=+.pt", noise(50, 1)}, {"c d.json", "{}"}};
  const auto at = target();
  ASSERT_TRUE(at->publish(package_of(folder, "x y%", 1, files), {}));
  EXPECT_EQ(hub.read("me/run", "main", "checkpoints/x y%/a b/ü%20?#&=+.pt"), noise(50, 1));
  const auto listed = at->list("trainer");
  ASSERT_TRUE(listed && listed->size() == 1);
  const auto into = folder.path() / "back";
  ASSERT_TRUE(at->fetch("trainer", listed->front(), trainward::test::fetch_into(into), {}));
}

TEST_F(Publish, AnotherBranchIsMade) {
  orders::HubPlace place;
  place.revision = "runs/one";
  ASSERT_TRUE(target(place)->publish(package("step-1", 1, 1), {}));
  expect_there("step-1", 1, "runs/one");
  EXPECT_EQ(commits(), 0U);
}

TEST_F(Publish, ARepositoryWithoutAnOwnerIsTheTokens) {
  orders::HubPlace place;
  place.repo = "run";
  ASSERT_TRUE(target(place)->publish(package("step-1", 1, 1), {}));
  expect_there("step-1", 1);
}

TEST_F(Publish, AnotherProgramsRepositoryIsRefused) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  Package other = package("step-2", 2, 2);
  other.program = "other";
  const auto refused = at->publish(other, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_THAT(refused.error().message(), HasSubstr("checkpoints of the program 'trainer'"));
}

TEST_F(Publish, AnotherRunsRepositoryIsRefusedUnlessItIsGoneOnWith) {
  const auto at = target();
  Package first = package("step-1", 1, 1);
  first.run = {"first", false};
  ASSERT_TRUE(at->publish(first, {}));
  Package second = package("step-1", 1, 2);
  second.run = {"second", false};
  second.saved_ms += 1000;
  const auto refused = at->publish(second, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_THAT(refused.error().message(), HasSubstr("another run"));
  expect_there("step-1", 1);
  Package third = package("step-2", 2, 3);
  third.run = {"third", true};
  ASSERT_TRUE(at->publish(third, {}));
  EXPECT_FALSE(at->publish(first, {})) << "who was given up and came back";
  expect_there("step-2", 3);
}

// A new box whose clock is behind: what the old one sent stays the newest on the branch.
TEST_F(Publish, WhoGoesOnByAnEarlierClockGoesOn) {
  const auto at = target();
  Package first = package("step-1", 1, 1);
  first.run = {"first", false};
  ASSERT_TRUE(at->publish(first, {}));
  for (const std::int64_t step : {2, 3}) {
    Package next = package("step-" + std::to_string(step), step, static_cast<unsigned>(step));
    next.run = {"second", true};
    next.saved_ms = step;
    const auto done = at->publish(next, {});
    EXPECT_TRUE(done) << done.error().message();
  }
  expect_there("step-1", 1);
  expect_there("step-3", 3);
}

TEST_F(Publish, ACardOfSomebodysOwnStays) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  hub.commit("me/run", "README.md", "# Mine\n");
  ASSERT_TRUE(at->publish(package("step-2", 2, 2), {}));
  EXPECT_EQ(hub.read("me/run", "main", "README.md"), "# Mine\n");
}

TEST_F(Publish, ACheckpointSavedAnewReplacesTheOld) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  Package again = package("step-1", 1, 7);
  again.saved_ms += 1000;
  ASSERT_TRUE(at->publish(again, {}));
  expect_there("step-1", 7);
  EXPECT_EQ(commits(), 2U);
}

}  // namespace
}  // namespace trainward::upload::test
