// A fake Hub, a token in a file, a memory and checkpoints in a folder that goes with the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fake_hub.hpp"
#include "support.hpp"

namespace trainward::upload::test {

class HubFixture : public ::testing::Test {
 protected:
  HubFixture() { write_token(hub.rules.token); }

  void write_token(const std::string& token) {
    token_file = folder.write("token", token + "\n");
    std::filesystem::permissions(token_file, std::filesystem::perms(0600));
  }
  std::unique_ptr<Target> target(orders::HubPlace place = {},
                                 const hub::Times& times = {{0, 0}, 0}) {
    return target_at(hub.endpoint(), token_file, memory, std::move(place), times);
  }
  Package package(const std::string& name, std::int64_t step, unsigned seed) {
    return package_of(folder, name, step, checkpoint_files(seed));
  }
  // That the branch shows the checkpoint, byte for byte.
  void expect_there(const std::string& name, unsigned seed, const std::string& revision = "main") {
    for (const Content& file : checkpoint_files(seed)) {
      const std::string path = "checkpoints/" + name + "/" + file.name;
      EXPECT_EQ(hub.read("me/run", revision, path), file.bytes) << path;
    }
    EXPECT_TRUE(hub.read("me/run", revision, "checkpoints/" + name + ".json"));
  }
  // Commits after the first, of a branch.
  std::size_t commits() { return hub.history("me/run").size() - 1; }
  void TearDown() override { EXPECT_THAT(hub.violations(), ::testing::IsEmpty()); }

  TemporaryFolder folder;
  FileMemory memory{folder.path() / "memory.json"};
  std::filesystem::path token_file;
  trainward::test::FakeHub hub;
};

}  // namespace trainward::upload::test
