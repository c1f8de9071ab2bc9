// A configuration file in a temporary folder, and what loading it said.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"

namespace trainward::config {

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tw-config-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = std::filesystem::canonical(name);
    std::filesystem::create_directories(folder_ / "work");
    std::filesystem::create_directories(folder_ / "data");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  tl::expected<Config, std::vector<Problem>> load_text(
      const std::string& text, const std::vector<std::string>& overrides = {}) const {
    write("c.yaml", text);
    return load(folder_ / "c.yaml", folder_ / "work", overrides);
  }

  // "line:column: message" of each problem, or of --set.
  std::vector<std::string> problems(const std::string& text,
                                    const std::vector<std::string>& overrides = {}) const {
    const auto loaded = load_text(text, overrides);
    std::vector<std::string> out;
    if (loaded) return out;
    const std::string prefix = (folder_ / "c.yaml").string() + ":";
    for (const Problem& problem : loaded.error()) {
      std::string line = problem.text();
      if (line.starts_with(prefix)) line.erase(0, prefix.size());
      out.push_back(line);
    }
    return out;
  }

  // The same for a program with just this line.
  std::vector<std::string> wrong(const std::string& line) const {
    return problems("programs:\n  a:\n    " + line + "\n");
  }

  std::filesystem::path folder_;
};

}  // namespace trainward::config
