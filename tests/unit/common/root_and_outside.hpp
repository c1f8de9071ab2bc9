// A folder that is open, and one of somebody else's beside it, in which nothing may change.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/os/file.hpp"
#include "common/os/folder.hpp"
#include "temporary_folder.hpp"

namespace trainward {

class RootAndOutside : public ::testing::Test {
 protected:
  // `inner`: made in the root; `files` on another file system than usual.
  explicit RootAndOutside(std::string inner) : inner_(std::move(inner)) {}
  RootAndOutside(std::string inner, const std::filesystem::path& files)
      : files_(files), inner_(std::move(inner)) {}

  void SetUp() override {
    ASSERT_TRUE(make_folders(path("root") / inner_));
    files_.write("outside/victim", "of somebody else");
    auto opened = Folder::open(path("root"));
    ASSERT_TRUE(opened);
    root_.emplace(std::move(*opened));
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return files_.path() / name;
  }
  [[nodiscard]] bool untouched() const {
    auto outside = Folder::open(path("outside"));
    return outside && outside->names() == std::vector<std::string>{"victim"} &&
           outside->read("victim", 100) == "of somebody else";
  }

  TemporaryFolder files_;
  std::optional<Folder> root_;

 private:
  std::string inner_;
};

}  // namespace trainward
