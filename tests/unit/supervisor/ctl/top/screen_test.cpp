// Whole screens, as they look.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "sample.hpp"
#include "supervisor/ctl/top/top_view.hpp"

namespace trainward::ctl::top {
namespace {

std::string screen(const Ui& ui) { return "\n" + text_of(draw(ui), ui.ascii); }

// As the page marks them: a cause of another version counts as unknown, one that nobody told as
// none.
TEST(Screen, WhichEndsAreFailures) {
  for (const auto& [cause, failed] : {std::pair("device_oom", true),
                                      {"a cause of another version", true},
                                      {"", false},
                                      {"stopped", false},
                                      {"planned_restart", false},
                                      {"done", false}}) {
    Ui ui = sample_ui({80, 24});
    ui.shown.curve->attempts.front().cause = cause;
    ASSERT_TRUE(ui.shown.curve->attempts.front().over);
    EXPECT_EQ(screen(ui).find("✗ 1 failed attempt") != std::string::npos, failed) << cause;
  }
}

// clang-format off
TEST(Screen, OnTheUsualTerminal) {
  EXPECT_EQ(screen(sample_ui({80, 24})), R"(
trainward  1 needs you  2 programs                                      21:41:07
✖ broken  FATAL for 2 h at step 41,200 of 50,000: the disk is full; your action…
▶ trainer  RUNNING for 3 h, step 1,000 of 5,000, loss 2.040, effective 87 %;
  nothing to do.
─ 1 curve ─ loss 2.042 · steps 0–999 · ✗ 1 failed attempt · ○ held out ─────────
   8.200 ⠑⠤⢄⣀⡀                                     ┊
            ⠉⠉⠒⠤⠤⣀⣀⡀                               ┊
                  ⠉⠉⠉⠒⠒⠢⠤⠤⢄⣀⣀⣀⡀⣀⡀                  ┊
   1.842                     ⠉⠈⠉⠉⠉⠉⠉⠒○⠒⠒⠒⠒⠒⠒⠒⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤○⠤⠤⠤⠤⠤⠤⠤⠤⠤⢄⣀⣀⣀⡀
         ──────────────┴─────────────┴─────────────┴──✗──────────┴──────────────
2 time    run  ████████████████████▓▒░  87 %  replaying 6 % (device_oom) · load…
          24 h █████████████████████▒▒  91 %  saving 9 %
          1 h  ███████████████████████ 100 %  nothing else
3 boards  0100014511a1 n300 FAILED  no heartbeat
          0100014511b2 n300 OK  54 °C  120 W
─ 4 events ─────────────────────────────────────────────────────────────────────
21:40:59 #1 verdict device_oom: Out of Memory
21:41:01 #2 launch attempt 2 goes on from step 600
21:41:03 #2 restart asked for (uid 1000)
─ 5 log ─ stdout of attempt 2 ──────────────────────────────────────────────────
step 998 loss 2.051
step 999 loss 2.046
step 1000 loss 2.040
q quit   ? help   s start   t stop   r restart   / filter   +- zoom   1-5 panes
)");
}

TEST(Screen, OnALargeOne) {
  EXPECT_EQ(screen(sample_ui({120, 40})), R"(
trainward  1 needs you  2 programs                                                                              21:41:07
✖ broken  FATAL for 2 h at step 41,200 of 50,000: the disk is full; your action is needed.
▶ trainer  RUNNING for 3 h, step 1,000 of 5,000, loss 2.040, effective 87 %; nothing to do.
─ 1 curve ─ loss 2.042 · ✗ 1 failed attempt · ○ held out ─────────────── 2 time    run  ██████████▓▒  87 %  replaying 6…
   8.200 ⡄                                    ┊                                    24 h ███████████▒  91 %  saving 9 %
         ⢱⡆                                   ┊                                    1 h  ████████████ 100 %  nothing else
          ⢣⡄                                  ┊                          3 boards  0100014511a1 n300 FAILED  no heartbe…
          ⠈⢆⡀                                 ┊                                    0100014511b2 n300 OK  54 °C  120 W
           ⠈⡆⡀                                ┊                          ─ 4 events ────────────────────────────────────
            ⠘⡄⡀                               ┊                          21:40:58 #1 exit attempt 1 ended: SIGKILL
             ⠘⡄⡀                              ┊                          21:40:59 #1 verdict device_oom: Out of Memory
              ⠈⢆⡄                             ┊                          21:41:01 #2 launch attempt 2 goes on from step…
               ⠈⢢⣆                            ┊                          21:41:03 #2 restart asked for (uid 1000)
   5.021        ⠘⠱⡀⡀                          ┊
                 ⠈⠈⢆⣆                         ┊
                   ⠙⠑⢄⣄                       ┊
                     ⠙⠑⢄⣦⡀                    ┊
                       ⠙⠑⠢⡀⣄⡀                 ┊
                         ⠙⠈⠑⠤⣀⣤⣀              ┊
                            ⠙⠻⠉⠒⠤⣀○⣤⣀⡀        ⠐⠒⠒
                               ⠈⠙⠻⠉⠑⠒⠤⠤⣀⣀⣦⣤⣤⣄⣀⣀⡀
                                    ⠈⠉⠛⠛⠿⠉⠉⠑⠒⠒⠢⠤⠤⠤⢄⣀⣀⣀⣀⣀⡀⣶⣶○⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⣤⡄
   1.842                                     ⠉⠉⠉⠉⠛⠛⠛⠛⠛⠿⠿⠈⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠒⠒⠒⠂
         ────────────┴────────────┴───────────┴──✗─────────┴────────────
         0              ✗ attempt 1 at 640: device_oom               999
─ 5 log ─ stdout of attempt 2 ──────────────────────────────────────────
loading data
step 998 loss 2.051
step 999 loss 2.046
step 1000 loss 2.040









q quit   ? help   s start   t stop   r restart   / filter   +- zoom   1-5 panes
)");
}

TEST(Screen, OnASmallOne) {
  EXPECT_EQ(screen(sample_ui({40, 12})), R"(
trainward  1 needs you  2 prog… 21:41:07
✖ broken  FATAL for 2 h at step 41,200 …
▶ trainer  RUNNING for 3 h, step 1,000
  of 5,000, loss 2.040, effective 87 %;
  nothing to do.
─ 1 curve ─ loss 2.042 · steps 0–999 ·…
   8.200 ⠒⢄⡀               ┊
           ⠈⠑⠢⢄⣀⡀⡀         ┊
   1.842       ⠈⠈⠉⠑⠒⠒○⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⢄○⣀⣀⣀⣀⣀⣀
         ──────┴─────┴─────┴✗────┴──────
2 time    run  █████████▒  87 %  replay…
q quit   ? help   s start   t stop
)");
}

TEST(Screen, OnATinyOne) {
  EXPECT_EQ(screen(sample_ui({10, 3})), R"(
▶ trainer
  RUNNING
q quit
)");
}

TEST(Screen, WithoutUtf8) {
  Ui ui = sample_ui({80, 24});
  ui.ascii = true;
  EXPECT_EQ(screen(ui), R"(
trainward  1 needs you  2 programs                                      21:41:07
x broken  FATAL for 2 h at step 41,200 of 50,000: the disk is full; your action~
> trainer  RUNNING for 3 h, step 1,000 of 5,000, loss 2.040, effective 87 %;
  nothing to do.
- 1 curve - loss 2.042 - steps 0-999 - x 1 failed attempt - o held out ---------
   8.200 '..                                       :
            ''''...                                :
                   '''''........                   :
   1.842                        '''''o''''''''''''''.............o..............
         --------------+-------------+-------------+--x----------+--------------
2 time    run  ####################=+.  87 %  replaying 6 % (device_oom) - load~
          24 h #####################++  91 %  saving 9 %
          1 h  ####################### 100 %  nothing else
3 boards  0100014511a1 n300 FAILED  no heartbeat
          0100014511b2 n300 OK  54  C  120 W
- 4 events ---------------------------------------------------------------------
21:40:59 #1 verdict device_oom: Out of Memory
21:41:01 #2 launch attempt 2 goes on from step 600
21:41:03 #2 restart asked for (uid 1000)
- 5 log - stdout of attempt 2 --------------------------------------------------
step 998 loss 2.051
step 999 loss 2.046
step 1000 loss 2.040
q quit   ? help   s start   t stop   r restart   / filter   +- zoom   1-5 panes
)");
}

// clang-format on

TEST(Screen, SaysWhatKeepsItFromTheDaemon) {
  Ui ui = sample_ui({80, 24});
  ui.shown.origin = Origin::database;
  ui.shown.trouble = "trainwardd is not running; from the database";
  EXPECT_NE(screen(ui).find("trainwardd is not running; from the database"), std::string::npos);
  Ui nothing;
  nothing.shown.trouble = "no permission to talk to trainwardd";
  EXPECT_NE(screen(nothing).find("no permission to talk to trainwardd"), std::string::npos);
  Ui empty;
  empty.shown.origin = Origin::daemon;
  EXPECT_NE(screen(empty).find("no programs yet"), std::string::npos);
}

TEST(Screen, MarksARunThatIsSilent) {
  Ui ui = sample_ui({80, 24});
  ui.shown.programs[1].silence = Silence{720'000, 2'100};
  EXPECT_NE(screen(ui).find("⚠ no step for 12 min 00 s; one usually takes 2.1 s"),
            std::string::npos);
  ui.selected = "broken";
  EXPECT_NE(screen(ui).find("trainer  no step for 12 min 00 s; one usually takes 2.1 s; RUNNING"),
            std::string::npos);
}

// One bad step does not make a flat line of the rest.
TEST(Screen, ASpikeIsCutOffAndMarked) {
  Ui ui = sample_ui({80, 24});
  const std::string before = screen(ui);
  ui.shown.curve->points[60].most = 1e12;
  const std::string after = screen(ui);
  EXPECT_NE(after.find("▲"), std::string::npos);
  EXPECT_EQ(after.find("e+12"), std::string::npos) << after;
  ui.logarithmic = true;
  EXPECT_NE(screen(ui).find("1e+12"), std::string::npos) << "a logarithm has room for it";
}

// As many attempts as a bad week has: the curve is still to be seen.
TEST(Screen, ThousandsOfAttemptsDoNotHideTheCurve) {
  Ui ui = sample_ui({80, 24});
  for (int i = 3; i < 2'000; ++i) {
    ui.shown.curve->attempts.push_back({i, i / 2, i / 2 + 1, "hang", true});
  }
  const std::string text = screen(ui);
  EXPECT_EQ(text.find("┊"), std::string::npos);
  EXPECT_NE(text.find("✗ 1998 failed attempts"), std::string::npos) << text;
}

}  // namespace
}  // namespace trainward::ctl::top
