// trainwardctl run in this process, in a folder of its own, its output caught.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/ctl/arguments.hpp"
#include "temporary_folder.hpp"

namespace trainward::ctl {

inline constexpr std::int64_t now_ms = 1'763'675'000'000;  // 2025-11-20T21:43:20Z

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

class CtlTest : public testing::Test {
 protected:
  CtlTest() {
    ::setenv("TZ", "TST-1", 1);  // an hour ahead of UTC, so that nobody confuses the two
    ::tzset();
  }
  [[nodiscard]] std::filesystem::path socket() const { return folder_ / "trainward.sock"; }

  [[nodiscard]] Ran ctl(std::vector<std::string> arguments, Style style = {}) const {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{out, err, style.colour, style.width, Time{now_ms, 0}, {}};
    const int code = run(std::move(arguments), folder_, terminal);
    return {code, out.str(), err.str()};
  }

  // A log in the folder; its path.
  [[nodiscard]] std::string write_log(const std::string& text) const {
    const auto file = folder_ / "run.log";
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  // What a command that succeeds prints with --json.
  [[nodiscard]] json::object as_json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const Ran ran = ctl(std::move(arguments));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return parse_json(ran.out, "output")->as_object();
  }

  TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

}  // namespace trainward::ctl
