// A report as one file: whole or not there at all, and nothing in it that leads elsewhere.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "fixture.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReportPage : public CtlTest {
 protected:
  ReportPage() {
    auto store = store::Store::open(folder_ / "trainward.db");
    EXPECT_TRUE(store.has_value()) << store.error().message();
    EXPECT_TRUE(store->put_program({"a", "EXITED", "failed", "", "", now_ms - 180'000, 0}));
    store::AttemptRow attempt;
    attempt.program = "a";
    attempt.number = 1;
    attempt.folder = attempt_;
    attempt.started_ms = now_ms - 240'000;
    attempt.ended_ms = now_ms - 180'000;
    attempt.first_step = 1;
    attempt.last_step = 40;
    attempt.exit_code = 1;
    attempt.cause = "host_oom";
    attempt.verdict = "<script>alert(1)</script>";
    EXPECT_TRUE(store->put_attempt(attempt));
    EXPECT_TRUE(store->add_evidence(
        "a", 1, {"log rule", 70, "host_oom", "MemoryError: the line", "stderr.log:2"}));
    for (std::int64_t step = 1; step <= 40; ++step) {
      EXPECT_TRUE(store->add_step("a", {{.loss = 3.0}, step, 1, now_ms}));
    }
    std::filesystem::create_directories(attempt_);
    std::ofstream(attempt_ / "stderr.log") << "before\nMemoryError: the line\nafter\n";
    std::ofstream(attempt_ / "stdout.log") << "step 40 loss 3\n<img src=http://x/>\n";
    std::filesystem::create_directory(out_);
  }
  [[nodiscard]] Ran report(const std::filesystem::path& file) const {
    return ctl({"report", "--html", file.string(), "a"});
  }
  static std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  [[nodiscard]] std::ptrdiff_t files_in_out() const {
    return std::distance(std::filesystem::directory_iterator(out_), {});
  }

  const std::filesystem::path out_ = folder_ / "out";
  const std::filesystem::path attempt_ = folder_ / "runs" / "a" / "attempts" / "0001";
};

TEST_F(ReportPage, IsWholeAndLeadsNowhere) {
  const Ran ran = report(out_ / "r.html");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "written: " + (out_ / "r.html").string() + "\n");
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("answering from the database"));
  const std::string page = text_of(out_ / "r.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* section : {"summary", "curve", "time", "attempts", "why", "log", "boards",
                              "checkpoints", "learning", "events"}) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + std::string(section) + "\""));
  }
  EXPECT_THAT(page, AllOf(HasSubstr("<style>"), HasSubstr("class=\"mean\""),
                          HasSubstr("&lt;script&gt;alert(1)"), HasSubstr("&lt;img src=")));
  for (const char* never : {"<script", "<link", "<form", "<button", "http-equiv", "<img", "src=\"",
                            "href=\"/", "href=\"http", "data-source", "url(http", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(never))) << never;
  }
  EXPECT_EQ(files_in_out(), 1);
}

TEST_F(ReportPage, HasTheLogCutAtTheLineThatDecided) {
  const Ran ran = report("-");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("stderr of attempt 1, lines 1 to 3; line 2 decided"));
  EXPECT_THAT(ran.out, HasSubstr("before\n<mark>MemoryError: the line\n</mark>after\n"));
}

TEST_F(ReportPage, IsNotWrittenWhereItCannotBe) {
  const Ran folder = report(out_);
  EXPECT_EQ(folder.code, 1);
  EXPECT_THAT(folder.err, AllOf(HasSubstr("is a folder"), HasSubstr("report.html")));
  const Ran missing = report(out_ / "none" / "r.html");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("the report cannot be written"),
                                 HasSubstr("name a file in a folder"), Not(HasSubstr(".tmp"))));
  const Ran unknown = ctl({"report", "--html", (out_ / "r.html").string(), "nobody"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("no such program"));
  EXPECT_EQ(files_in_out(), 0);
}

TEST_F(ReportPage, AFolderThatMayOnlyBeReadIsSaidSo) {
  // To the administrator only what the kernel itself guards is read-only.
  const bool administrator = ::geteuid() == 0;
  std::filesystem::permissions(
      out_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Ran ran = report(administrator ? "/proc/self/r.html" : out_ / "r.html");
  std::filesystem::permissions(out_, std::filesystem::perms::owner_all);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("the report cannot be written"), HasSubstr("that you may write to")));
  EXPECT_EQ(files_in_out(), 0);
}

// Killed at any moment, it leaves the report that was there or the new one, each whole.
TEST_F(ReportPage, AKillInBetweenLeavesAWholeFile) {
  const auto file = out_ / "r.html";
  ASSERT_EQ(report(file).code, 0);
  const std::string whole = text_of(file);
  int killed = 0;
  for (int microseconds = 0; microseconds < 60'000; microseconds += 1'500) {
    std::ofstream(file) << "old";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(report(file).code);
    ::usleep(static_cast<useconds_t>(microseconds));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) ++killed;
    const std::string left = text_of(file);
    ASSERT_TRUE(left == "old" || left == whole) << "after " << microseconds << " us";
  }
  EXPECT_GT(killed, 0);
  EXPECT_EQ(report(file).code, 0) << "whatever was left beside it";
  EXPECT_EQ(text_of(file), whole);
}

}  // namespace
}  // namespace trainward::ctl
