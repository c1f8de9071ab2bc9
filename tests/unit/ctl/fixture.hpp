// trainwardctl run in this process, in a folder of its own, its output caught.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "supervisor/ctl/arguments.hpp"

namespace trainward::ctl {

inline constexpr std::int64_t now_ms = 1'763'675'000'000;  // 2025-11-20T21:43:20Z

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

class CtlTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "trainward-ctl-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path socket() const { return folder_ / "trainward.sock"; }

  [[nodiscard]] Ran ctl(std::vector<std::string> arguments, Style style = {}) const {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{out, err, style.colour, style.width, Time{now_ms, 0}, {}};
    const int code = run(std::move(arguments), folder_, terminal);
    return {code, out.str(), err.str()};
  }

  std::filesystem::path folder_;
};

}  // namespace trainward::ctl
