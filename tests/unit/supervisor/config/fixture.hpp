// A configuration file in a temporary folder, and what loading it said.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"
#include "temporary_folder.hpp"

namespace trainward::config {

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "work");
    std::filesystem::create_directories(folder_ / "data");
  }

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

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = std::filesystem::canonical(temporary_.path());
};

}  // namespace trainward::config
