// export: rows for the tools of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "supervisor/ctl/arguments.hpp"
#include "supervisor/ctl/export_text.hpp"
#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::ctl {
namespace {

using Cell = store::Store::Cell;

TEST(ExportText, Csv) {
  std::string out;
  append_csv_names(out, {"a", "b,c"});
  append_csv_row(out, {Cell(std::int64_t{-3}), Cell(-0.5), Cell(), Cell(std::string("plain")),
                       Cell(std::string("say \"so\"")), Cell(std::string("two\nlines")),
                       Cell(std::numeric_limits<double>::infinity())});
  EXPECT_EQ(out, "a,\"b,c\"\r\n-3,-0.5,,plain,\"say \"\"so\"\"\",\"two\nlines\",NaN\r\n");
  for (const char* formula : {"=1+1", "+1", "-1", "@sum", "\tx", "=a,b"}) {
    std::string text;
    append_csv_text(text, formula);
    EXPECT_EQ(text.find('\''), text.starts_with('"') ? 1U : 0U) << formula;
  }
}

TEST(ExportText, Json) {
  std::string out;
  append_json_row(out, {"a", "b", "c", "d"},
                  {Cell(std::string("\"\n")), Cell(), Cell(2.5),
                   Cell(std::numeric_limits<double>::infinity())});
  EXPECT_EQ(out, "{\"a\":\"\\\"\\n\",\"b\":null,\"c\":2.5,\"d\":null}\n");
}

class Export : public testing::Test {
 protected:
  Export() {
    auto store = store::Store::open(folder_ / "trainward.db");
    EXPECT_TRUE(store);
    for (const char* name : {"a", "b"}) {
      EXPECT_TRUE(store->put_program({name, "RUNNING", "", "d", "{}", 1, 100}));
      store::AttemptRow attempt;
      attempt.program = name;
      attempt.number = 1;
      attempt.nonce = name;
      attempt.intended_ms = 1'763'675'000'000;
      attempt.verdict = "=cmd";
      EXPECT_TRUE(store->put_attempt(attempt));
      for (std::int64_t step = 1; step <= 3; ++step) {
        store::StepRow row;
        row.step = step;
        row.attempt = 1;
        row.loss = 2.5;
        EXPECT_TRUE(store->add_step(name, row));
      }
    }
  }
  int ctl(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    arguments.insert(arguments.begin(), {"--state-dir", folder_.string()});
    Terminal terminal{out_, err_, false, 0, {}};
    return run(std::move(arguments), folder_, terminal);
  }
  std::size_t lines() const {
    const std::string text = out_.str();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::ostringstream out_, err_;
};

TEST_F(Export, TablesOfAllProgramsAndOfOne) {
  EXPECT_EQ(ctl({"export", "--csv", "-"}), 0) << err_.str();
  EXPECT_TRUE(out_.str().starts_with("program,step,attempt,loss,")) << out_.str();
  EXPECT_EQ(lines(), 7U);
  EXPECT_EQ(ctl({"export", "--csv", "-", "b"}), 0);
  EXPECT_EQ(lines(), 4U);
  EXPECT_EQ(ctl({"export", "--jsonl", "-", "steps", "a"}), 0);
  EXPECT_EQ(lines(), 3U);
  EXPECT_EQ(ctl({"export", "--csv", "-", "attempts"}), 0);
  EXPECT_NE(out_.str().find(",'=cmd,"), std::string::npos) << out_.str();
  EXPECT_EQ(ctl({"export", "--jsonl", "-", "ledger"}), 0);
  EXPECT_EQ(lines(), 0U);
  EXPECT_NE(err_.str().find("nothing is on record"), std::string::npos);
}

TEST_F(Export, ATableWithoutRowsHasItsNames) {
  EXPECT_EQ(ctl({"export", "--csv", "-", "evaluations"}), 0);
  EXPECT_EQ(out_.str(), "program,step,attempt,loss,perplexity,at,times_done\r\n");
  for (const char* table : {"steps", "attempts", "ledger"}) {
    EXPECT_EQ(ctl({"export", "--csv", "-", table, "a"}), 0);
    EXPECT_TRUE(out_.str().starts_with("program,")) << out_.str();
    EXPECT_EQ(out_.str().find("program", 1), std::string::npos) << "once: " << out_.str();
  }
}

TEST_F(Export, AnOutputThatTakesNoMoreIsNotSuccess) {
  std::ofstream full("/dev/full");
  Terminal terminal{full, err_, false, 0, {}};
  for (const char* command : {"export", "metrics", "status"}) {
    err_.str("");
    std::vector<std::string> words{"--state-dir", folder_.string(), command};
    if (words.back() == "export") words.insert(words.end(), {"--csv", "-"});
    EXPECT_EQ(run(std::move(words), folder_, terminal), 1) << command;
    EXPECT_NE(err_.str().find("stdout takes no more"), std::string::npos) << err_.str();
    full.clear();
  }
}

TEST_F(Export, FilesAreWholeOrNotThere) {
  const auto file = folder_ / "steps.csv";
  EXPECT_EQ(ctl({"export", "--csv", file.string()}), 0) << err_.str();
  EXPECT_NE(out_.str().find("6 rows written"), std::string::npos);
  EXPECT_GT(std::filesystem::file_size(file), 100U);
  EXPECT_EQ(ctl({"export", "--csv", folder_.string()}), 1);
  EXPECT_EQ(ctl({"export", "--csv", (folder_ / "no" / "x.csv").string()}), 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().filename().string().find(".new-"), std::string::npos) << entry.path();
  }
}

TEST_F(Export, TensorBoardsFiles) {
  const auto logs = folder_ / "logs";
  EXPECT_EQ(ctl({"export", "tensorboard", logs.string()}), 0) << err_.str();
  EXPECT_TRUE(std::filesystem::is_directory(logs / "a"));
  EXPECT_TRUE(std::filesystem::is_directory(logs / "b"));
  EXPECT_EQ(ctl({"export", "tensorboard", logs.string(), "a"}), 0) << "again: " << err_.str();
  EXPECT_FALSE(std::filesystem::exists(logs / "a-2"));
}

TEST_F(Export, WhatIsAskedWronglyIsSaid) {
  const auto says = [&](const std::vector<std::string>& arguments, int code, const char* what) {
    EXPECT_EQ(ctl(arguments), code) << err_.str();
    EXPECT_NE((out_.str() + err_.str()).find(what), std::string::npos) << err_.str();
  };
  says({"export"}, 2, "--csv FILE, --jsonl FILE, or export tensorboard DIR");
  says({"export", "--csv", "-", "step", "a"}, 2, "expected steps, evaluations");
  says({"export", "tensorboard"}, 2, "name the folder");
  says({"export", "--csv", "-", "--jsonl", "-"}, 2, "--csv");
  says({"export", "--csv", "-", "nobody"}, 1, "no such program: nobody");
}

}  // namespace
}  // namespace trainward::ctl
