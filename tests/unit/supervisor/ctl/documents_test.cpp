// What the commands that read print of documents that the daemon answers with.
#include "common/os/file.hpp"
#include "fake_daemon.hpp"
#include "fixture.hpp"

namespace trainward::ctl {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

json::value parsed(std::string_view text) { return parse_json(text, "test").value(); }

class TextOfADocument : public CtlTest {
 protected:
  using Words = std::vector<std::string>;

  [[nodiscard]] std::string text(const Words& words, const std::string& path,
                                 const json::value& document, Style style = {}) const {
    std::filesystem::remove(socket());  // of a document before
    FakeDaemon daemon(socket());
    daemon.answers("GET " + path, json::serialize(document));
    const Ran ran = ctl(words, style);
    EXPECT_EQ(ran.err, "");
    return ran.out;
  }
  [[nodiscard]] std::string status(const json::value& rows, Style style = {}) const {
    return text({"status"}, "/v1/programs", rows, style);
  }
  [[nodiscard]] std::string history(const json::value& rows) const {
    return text({"history"}, "/v1/history", rows);
  }
  [[nodiscard]] std::string why(const json::value& document) const {
    return text({"why", "t"}, "/v1/programs/t/why", document);
  }
  [[nodiscard]] std::string report(const json::value& document, Style style = {}) const {
    return text({"report", "t"}, "/v1/programs/t/report", document, style);
  }
  [[nodiscard]] std::string events(const json::value& rows) const {
    return text({"events"}, "/v1/events?after=-1", rows);
  }
  [[nodiscard]] std::string checkpoints(const json::value& rows) const {
    return text({"ckpt", "list", "t"}, "/v1/programs/t/checkpoints", rows);
  }
  [[nodiscard]] std::string boards(const json::value& rows, Style style = {}) const {
    return text({"boards"}, "/v1/boards", rows, style);
  }
};
using FormatStatus = TextOfADocument;
using FormatHistory = TextOfADocument;
using FormatWhy = TextOfADocument;
using FormatReport = TextOfADocument;
using FormatCheckpoints = TextOfADocument;
using FormatAnything = TextOfADocument;
using FormatBoards = TextOfADocument;

TEST_F(FormatStatus, IsSupervisorctlsLine) {
  const auto rows = parsed(R"j([
    {"name":"trainer:0","state":"RUNNING","pid":29230,"uptime_ms":5000,"attempts":1,"attempt":1},
    {"name":"b","state":"RUNNING","pid":7,"uptime_ms":97993000,"last_step":120,"target_step":300,
     "loss":2.4531,"evaluated_step":100,"evaluation_loss":2.5,"attempts":4,"attempt":4},
    {"name":"c","state":"FATAL","reason":"Exited too quickly (process log may have details)"},
    {"name":"d","state":"STOPPED","reason":"","attempts":0}])j");
  EXPECT_EQ(status(rows),
            "trainer:0                        RUNNING   pid 29230, uptime 0:00:05\n"
            "b                                RUNNING   pid 7, uptime 27:13:13, step 120/300, "
            "loss 2.453, held out 2.500 at step 100, attempt 4\n"
            "c                                FATAL     Exited too quickly (process log may have "
            "details)\n"
            "d                                STOPPED   Not started\n");
}

TEST_F(FormatStatus, ALossThatNobodyToldIsADash) {
  const auto rows = parsed(R"([{"name":"a","state":"RUNNING","pid":7,"uptime_ms":5000,
    "last_step":120,"loss":null,"attempts":1,"attempt":1}])");
  EXPECT_THAT(status(rows), HasSubstr("pid 7, uptime 0:00:05, step 120, loss -\n"));
}

TEST_F(FormatStatus, ALongNameWidensTheColumn) {
  const std::string name(40, 'n');
  json::array rows{json::object{{"name", name}, {"state", "EXITED"}, {"reason", "done"}}};
  EXPECT_EQ(status(rows), name + "   EXITED    done\n");
}

TEST_F(FormatStatus, ALongStateWidensTheColumn) {
  const auto rows = parsed(R"([{"name":"a","state":"UNKILLABLE","reason":"the kernel keeps it"},
                               {"name":"b","state":"FATAL","reason":"x"}])");
  EXPECT_EQ(status(rows),
            "a                                UNKILLABLE  the kernel keeps it\n"
            "b                                FATAL       x\n");
}

TEST_F(FormatStatus, TellsWhatKeepsTheDaemonFromItsWork) {
  const auto rows = parsed(R"([{"name":"a","state":"STARTING","reason":"probing",
      "trouble":"the folder of its checkpoints does not answer\u001b[2J"}])");
  EXPECT_EQ(status(rows),
            "a                                STARTING  probing\n"
            "  !! the folder of its checkpoints does not answer?[2J\n");
}

TEST_F(FormatStatus, SaysSinceWhenAProgramIsDown) {
  const auto down = [this](std::int64_t ms_ago, const char* state, const Words& options) {
    Words words = options;
    words.emplace_back("status");
    json::array rows{json::object{{"name", "a"},
                                  {"state", state},
                                  {"reason", "it is broken"},
                                  {"attempts", 3},
                                  {"changed_ms", now_ms - ms_ago}}};
    return text(words, "/v1/programs", rows).substr(33);
  };
  constexpr std::int64_t hour = 3'600'000;
  EXPECT_EQ(down(6 * hour, "FATAL", {}), "FATAL     since 16:43, 6 h ago: it is broken\n");
  EXPECT_EQ(down(6 * hour, "FATAL", {"--utc"}),
            "FATAL     since 15:43 UTC, 6 h ago: it is broken\n");
  EXPECT_EQ(down(30 * hour, "STOPPED", {}),
            "STOPPED   since Nov 19 16:43, 30 h ago: it is broken\n");
  EXPECT_EQ(down(24 * 330 * hour, "EXITED", {}),
            "EXITED    since 2024-12-25 22:43, 330 d ago: it is broken\n");
  EXPECT_EQ(down(6 * hour, "BACKOFF", {}), "BACKOFF   it is broken\n") << "it goes on by itself";
}

TEST_F(FormatStatus, ColoursTheState) {
  json::array rows{json::object{{"name", "a"}, {"state", "FATAL"}, {"reason", "x"}}};
  EXPECT_THAT(status(rows, Style{true, 0}), HasSubstr("\x1b[31mFATAL     \x1b[0m"));
}

TEST_F(FormatHistory, ARowPerAttempt) {
  const auto rows = parsed(R"([
    {"program":"t","attempt":1,"board":"0000000000000001","started_at":"2025-11-20T21:40:20.000Z",
     "duration_s":60.5,"first_step":1,"last_step":25,"steps_kept":24,"steps_lost":1,
     "exit":"exit 1","cause":"device_oom","verdict":"out of memory at step 25"},
    {"program":"t","attempt":2,"board":"","started_at":"2025-11-20T21:42:20.000Z",
     "duration_s":null,"first_step":0,"last_step":0,"steps_kept":0,"steps_lost":0,
     "exit":"","cause":"","verdict":""}])");
  EXPECT_EQ(
      history(rows),
      "ATTEMPT  STARTED          TOOK  BOARD    STEPS  KEPT  LOST  EXIT    CAUSE       VERDICT\n"
      "      1  3 min ago  1 min 00 s  …000001   1→25    24     1  exit 1  device_oom  out of "
      "memory "
      "at step 25\n"
      "      2  1 min ago  1 min 00 s  -            -     0     0  -       running\n");
}

TEST_F(FormatHistory, TellsHowAMeshShrankAndGrew) {
  const auto rows = parsed(R"([
    {"program":"t","attempt":1,"board":"0000000000000001","mesh":"2x4",
     "boards":"0000000000000001,0000000000000002,0000000000000003,0000000000000004"},
    {"program":"t","attempt":2,"board":"0000000000000001","mesh":"1x4 of 2x4",
     "boards":"0000000000000001,0000000000000002"},
    {"program":"t","attempt":3,"board":"0000000000000005","boards":"0000000000000005","mesh":""}])");
  EXPECT_THAT(history(rows), HasSubstr("BOARD               MESH        STEPS"));
  EXPECT_THAT(history(rows), HasSubstr("…000001 and 3 more  2x4             -"));
  EXPECT_THAT(history(rows), HasSubstr("…000001 and 1 more  1x4 of 2x4      -"));
  EXPECT_THAT(history(rows), HasSubstr("…000005             -               -"));
}

TEST_F(FormatHistory, WhatIsNotKnownIsADash) {
  const auto rows = parsed(R"([{"program":"t","attempt":1,"duration_s":60.5,"first_step":1,
    "last_step":30,"steps_kept":null,"steps_lost":null,"exit":"exit 1","cause":"crash"}])");
  EXPECT_THAT(history(rows), HasSubstr("1→30     -     -  exit 1"));
}

TEST_F(FormatHistory, NamesTheProgramsOnlyWhenThereAreSeveral) {
  json::array rows{json::object{{"program", "a"}, {"attempt", 1}}};
  EXPECT_THAT(history(rows), Not(HasSubstr("PROGRAM")));
  rows.push_back(json::object{{"program", "b"}, {"attempt", 1}});
  EXPECT_THAT(history(rows), HasSubstr("PROGRAM"));
}

TEST_F(FormatWhy, VerdictThenEvidenceByWeight) {
  const auto document = parsed(R"({"program":"t","state":"BACKOFF","reason":"next try in 4 s",
    "attempt":{"attempt":2,"started_at":"2025-11-20T21:40:20.000Z","duration_s":90,
      "board":"B1","exit":"SIGKILL","cause":"hang","verdict":"no step for 60 s",
      "first_step":25,"last_step":30,"steps_kept":4,"steps_lost":2,"steps_replayed":1,
      "folder":"/s/2"},
    "evidence":[{"source":"exit status","weight":40,"cause":"killed","text":"SIGKILL"},
      {"source":"log rule","weight":70,"cause":"hang","text":"timeout","location":"stderr.log:9"}],
    "phases":[{"phase":"replaying","cause":"device_oom","seconds":5}]})");
  EXPECT_EQ(why(document),
            "t, attempt 2: hang\n"
            "no step for 60 s\n"
            "\n"
            "  started  2025-11-20 22:40:20 (3 min ago)\n"
            "  took     1 min 30 s, ended with SIGKILL\n"
            "  board    B1\n"
            "  steps    25 to 30: 4 kept, 2 lost, 1 repeated\n"
            "  files    /s/2\n"
            "\n"
            "Evidence, strongest first:\n"
            "  70  log rule     hang    timeout [stderr.log:9]\n"
            "  40  exit status  killed  SIGKILL\n"
            "\n"
            "Where its time went:\n"
            "  replaying  5.0 s  after device_oom\n"
            "\n"
            "Now:  BACKOFF, next try in 4 s\n"
            "Next: nothing to do: trainwardd goes on by itself (BACKOFF)\n");
}

TEST_F(FormatWhy, OfAProgramThatFindsItsOwnPlace) {
  const auto steps = [this](const std::string& fields) {
    return why(parsed(R"({"program":"t","state":"BACKOFF","reason":"r","evidence":[],
      "attempt":{"attempt":2,"duration_s":1,"cause":"crash","told_to_resume":0,)" +
                      fields + "}}"));
  };
  EXPECT_THAT(steps(R"("first_step":1,"last_step":30,"steps_kept":null,"steps_lost":null,
                       "steps_replayed":0)"),
              HasSubstr("  steps    1 to 30: 0 repeated; kept and lost are known once the next "
                        "attempt starts\n"));
  EXPECT_THAT(steps(R"("first_step":1,"last_step":30,"steps_kept":20,"steps_lost":10,
                       "steps_replayed":0)"),
              HasSubstr("  steps    1 to 30: 20 kept, 10 lost, 0 repeated\n"));
  EXPECT_THAT(steps(R"("last_step":0,"resume_step":null)"),
              HasSubstr("  steps    none seen; the program picks its own starting point\n"));
}

TEST_F(FormatWhy, TellsWhatToDoWhenItGaveUp) {
  const auto document =
      parsed(R"({"program":"t","state":"FATAL","reason":"5 attempts without progress",
    "attempt":{"attempt":5,"duration_s":1,"cause":"config","verdict":"v"},"evidence":[]})");
  const std::string told = why(document);
  EXPECT_THAT(told, HasSubstr("trainwardctl start t"));
  EXPECT_THAT(told, HasSubstr("config check"));
}

TEST_F(FormatWhy, AnUnkillableProcessIsNotNothingToDo) {
  const auto document = parsed(R"({"program":"t","state":"UNKILLABLE","reason":"r",
    "attempt":{"attempt":5,"duration_s":1,"cause":"","verdict":""},"evidence":[]})");
  const std::string told = why(document);
  EXPECT_THAT(told, HasSubstr("restart the machine"));
  EXPECT_THAT(told, Not(HasSubstr("nothing to do")));
}

TEST_F(FormatWhy, EndsWithWhatTheWorkerSaidLast) {
  const json::value document = parsed(R"({"program":"t","state":"FATAL","reason":"r",
    "attempt":{"attempt":5,"duration_s":1,"cause":"unknown","verdict":"v"},"evidence":[]})");
  std::string log = "cut off\n";
  for (int i = 1; i <= 12; ++i) log += "line " + std::to_string(i) + "\n";
  log += "ValueError: \x1b[2Jno\n\n";
  const auto said = [&](const char* cause) {
    std::filesystem::remove(socket());
    FakeDaemon daemon(socket());
    json::value why = document;
    why.at("attempt").as_object()["cause"] = cause;
    daemon.answers("GET /v1/programs/t/why", json::serialize(why));
    daemon.answers("GET /v1/programs/t/log?stream=stderr&offset=-8192&limit=8192&attempt=5",
                   {200, log, "X-Log-Size: 900\r\n", false});
    return ctl({"why", "t"}).out;
  };
  const std::string told = said("unknown");
  EXPECT_THAT(told, HasSubstr("The last lines of its stderr:\n  | line 4\n"));
  EXPECT_THAT(told, HasSubstr("  | line 12\n  | ValueError: ?[2Jno\n\nNow:"));
  EXPECT_THAT(said("done"), Not(HasSubstr("stderr"))) << "nothing is to be explained";
  log = "\n";
  EXPECT_THAT(said("unknown"), Not(HasSubstr("stderr")));
}

TEST_F(FormatWhy, WithoutAnAttempt) {
  EXPECT_EQ(why(parsed(R"({"program":"t","state":"STOPPED","reason":"","attempt":null})")),
            "t is STOPPED; it has had no attempt yet.\nNext: To go on: trainwardctl start t\n");
}

TEST_F(FormatReport, TheWholeRun) {
  const auto document = parsed(R"({"program":"t","state":"EXITED","reason":"done","attempts":14,
    "steps_kept":300,"steps_lost":37,"first_loss":5.7062,"last_loss":2.4471,"best_loss":2.401,
    "tokens":614400,"tokens_per_second":9846.2,"wall_seconds":100.4,"effective_share":0.623,
    "effective_seconds":62.4,"total_seconds":100.2,"biggest_thief":"compiling",
    "thief_seconds":20.04,
    "causes":[{"cause":"device_oom","attempts":11},{"cause":"hang","attempts":2},
              {"cause":"done","attempts":1}],
    "phases":[{"phase":"stepping","seconds":62.4,"share":0.623},
              {"phase":"compiling","seconds":20.04,"share":0.2}],
    "boards":[{"serial":"01","verdict":"REMOTE_LOST","attempts":0,"reason":"link 8 is down"}]})");
  EXPECT_EQ(report(document),
            "Run t: EXITED (done)\n"
            "\n"
            "  attempts            14: device_oom 11, hang 2, done 1\n"
            "  steps               300 kept, 37 lost\n"
            "  loss                5.706 at first, 2.447 at last, 2.401 best\n"
            "  tokens              614,400, 9846 tokens/s while training\n"
            "  wall time           1 min 40 s\n"
            "  effective training  62.3 % (1 min 02 s of 1 min 40 s); biggest thief: compiling, "
            "20.0 s\n"
            "\n"
            "Where the time went:\n"
            "  stepping   1 min 02 s  62.3 %  ###################\n"
            "  compiling      20.0 s  20.0 %  ######\n"
            "\n"
            "Boards:\n"
            "  01  REMOTE_LOST  0 attempts  link 8 is down\n");
}

TEST_F(FormatReport, WhatIsNotKnownIsADash) {
  const std::string told = report(parsed(R"({"program":"t","state":"RUNNING","attempts":3,
    "steps_kept":20,"steps_lost":10,"attempts_with_unknown_loss":1,"first_loss":null,
    "last_loss":null,"best_loss":null,"tokens":null,"tokens_per_second":null})"));
  EXPECT_THAT(told, HasSubstr("  steps               20 kept, 10 lost; of 1 attempt it is not "
                              "known\n"));
  EXPECT_THAT(told, HasSubstr("  loss                -\n"));
  EXPECT_THAT(told, HasSubstr("  tokens              -\n"));
  EXPECT_THAT(report(parsed(R"({"steps_kept":null,"steps_lost":null})")),
              HasSubstr("- kept, - lost\n"));
}

TEST_F(FormatReport, TheHeldOutLossOfARunThatEvaluates) {
  const auto held_out = [this](const std::string& fields) {
    return report(parsed(R"({"program":"t","state":"EXITED")" + fields + "}"));
  };
  EXPECT_THAT(held_out(R"(,"evaluated_step":1200,"evaluation_loss":2.5,)"
                       R"("best_evaluation_loss":2.25)"),
              HasSubstr("\n  held-out loss       2.500 at step 1,200, 2.250 best\n"));
  EXPECT_THAT(
      held_out(R"(,"evaluated_step":12,"evaluation_loss":null,"best_evaluation_loss":null)"),
      HasSubstr("\n  held-out loss       - at step 12\n"));
  EXPECT_THAT(held_out(R"(,"evaluated_step":null)"), Not(HasSubstr("held-out")));
}

TEST_F(FormatReport, EvaluationsWithPerplexityAndTheBest) {
  const std::filesystem::path kept = folder_ / "step-00000800";
  std::filesystem::create_directories(kept);
  std::ofstream(kept / "PINNED") << "one of the lowest evaluation losses: 2.25\n";
  const json::value document = parsed(fmt::format(
      R"({{"program":"t","state":"RUNNING","evaluated_step":1200,"evaluation_loss":2.5,
          "evaluation_perplexity":12.1825,"best_evaluation_loss":2.25,"early_end":"no\u001b better",
          "data_left_out":"warning: 6 of 12 rows (50 %) are left out",
          "best_evaluation":{{"step":800,"loss":2.25,"perplexity":9.4877,"checkpoint":"{}"}},
          "evaluations":[{{"step":0,"loss":null,"perplexity":null}},
                         {{"step":800,"loss":2.25,"perplexity":9.4877}},
                         {{"step":1200,"loss":2.5,"perplexity":12.1825}}]}})",
      kept.string()));
  const std::string told = report(document);
  EXPECT_THAT(told, HasSubstr("\n  held-out loss       2.500 at step 1,200 (perplexity 12.18), "
                              "2.250 best\n"
                              "  ended early         no? better\n"
                              "  data                warning: 6 of 12 rows (50 %) are left out\n"));
  EXPECT_THAT(told, HasSubstr("\nEvaluations:\n"
                              "   STEP   LOSS  PERPLEXITY\n"
                              "      0      -           -\n"
                              "    800  2.250        9.49  best; " +
                              kept.string() +
                              " is kept: one of the lowest evaluation losses: 2.25\n"
                              "  1,200  2.500       12.18\n"));
  std::filesystem::remove(kept / "PINNED");
  EXPECT_THAT(report(document), HasSubstr("    800  2.250        9.49  best\n"));
}

TEST_F(FormatReport, ALossWithoutPerplexityHasNoColumnForIt) {
  const std::string told = report(parsed(R"({"program":"t","state":"RUNNING",
      "evaluations":[{"step":8,"loss":2.25,"perplexity":null}]})"));
  EXPECT_THAT(told, HasSubstr("\nEvaluations:\n  STEP   LOSS\n     8  2.250\n"));
}

TEST_F(FormatReport, WhatTheModelSaidIsSafeForATerminal) {
  const json::value document = parsed(R"({"program":"t","state":"RUNNING","samples":[
      {"step":1000,"prompt":"Capital of France?","answer":"Paris.\n\u001b[2J\u202eparis",
       "tokens":7,"ended_by":"end_of_text","cut":0},
      {"step":1200,"prompt":"p","answer":"","tokens":1,"ended_by":"\u001b","cut":1},
      {"step":1200,"prompt":"q","answer":"a","tokens":null,"ended_by":"","cut":0}]})");
  EXPECT_THAT(report(document), HasSubstr("\nWhat the model said after step 1,000:\n"
                                          "  > Capital of France?\n"
                                          "    Paris. ?[2J?paris\n"
                                          "    [7 tokens, end_of_text]\n"
                                          "\nWhat the model said after step 1,200:\n"
                                          "  > p\n"
                                          "    [no answer, 1 token, ?, cut to fit a message]\n"
                                          "  > q\n"
                                          "    a\n"));
}

TEST_F(FormatReport, ALongAnswerIsWrappedAndCutOnATerminalOnly) {
  std::string answer;
  for (int word = 0; word < 200; ++word) answer += "word ";
  const json::value document = json::object{
      {"program", "t"},
      {"samples", json::array{json::object{{"step", 1}, {"prompt", "p"}, {"answer", answer}}}}};
  const std::string told = report(document, Style{false, 24});
  EXPECT_THAT(told, HasSubstr("  > p\n"
                              "    word word word word\n"
                              "    word word word word\n"
                              "    word word word word\n"
                              "    word word word word\n"
                              "    word word word word\n"
                              "    word word word word…\n"));
  EXPECT_THAT(report(document), HasSubstr("    " + answer + "\n"));
}

TEST_F(FormatCheckpoints, Table) {
  const auto rows = parsed(R"([{"step":24,"state":"verified","bytes":1048576,
    "at_ms":1763674880000,"path":"/c/step-00000024"},
    {"step":36,"state":"corrupt","bytes":5,"at_ms":0,"path":"/c/x","reason":"byte flipped"}])");
  EXPECT_EQ(checkpoints(rows),
            "STEP  STATE      SIZE  SAVED      PATH\n"
            "  24  verified  1 MiB  2 min ago  /c/step-00000024\n"
            "  36  corrupt     5 B  -          /c/x (byte flipped)\n");
}

TEST_F(FormatAnything, SurvivesDocumentsOfTheWrongShape) {
  const auto odd = parsed(R"([{}, {"name":7,"state":[],"pid":"x","attempts":-1},
    {"evidence":{}, "phases":[3], "attempt":{"attempt":"x"}, "causes":[null], "boards":[1],
     "bytes":-5, "share":1e300}])");
  EXPECT_FALSE(status(odd).empty());
  EXPECT_FALSE(history(odd).empty());
  EXPECT_FALSE(events(odd).empty());
  EXPECT_FALSE(checkpoints(odd).empty());
  EXPECT_FALSE(boards(odd).empty());
  for (const json::value& row : odd.as_array()) {
    EXPECT_FALSE(why(row).empty());
    EXPECT_FALSE(report(row).empty());
  }
}

TEST_F(FormatAnything, PassesNoTerminalCommandsOn) {
  json::array rows{json::object{{"name", "a\x1b[2J"},
                                {"state", "FATAL\x1b"},
                                {"reason", "\x1b]0;x\x07"},
                                {"text", "\x1b[1m"}}};
  EXPECT_THAT(status(rows), Not(HasSubstr("\x1b")));
  EXPECT_THAT(events(rows), Not(HasSubstr("\x1b")));
}

TEST_F(FormatBoards, ShowWhatWasMeasuredAndADashForWhatWasNot) {
  const auto rows = parsed(R"j([
    {"serial":"010001451170c0c4","type":"n300","bus_id":"0000:41:00.0","verdict":"OK","reason":"",
     "at_ms":1763674940000,"sampled_ms":1763674990000,"temperature_c":79.4,"limit_c":75,
     "power_w":45,"clock_mhz":500,"heartbeat":4711,"aer_correctable":1200,"aer_fatal":3},
    {"serial":"0100014511708037","verdict":"HOT","reason":"\u001b[2J","at_ms":1763674940000,
     "temperature_c":null,"heartbeat":"x"}])j");
  const std::string told = boards(rows);
  EXPECT_THAT(told, HasSubstr("79 °C"));
  EXPECT_THAT(told, HasSubstr("500 MHz"));
  EXPECT_THAT(told, HasSubstr("4711"));
  EXPECT_THAT(told, HasSubstr("1,203"));
  EXPECT_THAT(told, HasSubstr("10 s ago"));
  EXPECT_THAT(told, Not(HasSubstr("\x1b")));
  EXPECT_THAT(boards(rows, Style{true, 0}), HasSubstr("\x1b[31m"));
}

TEST_F(FormatBoards, AQuarantineIsShownWithItsEndAndItsCauseAsLongAsItLasts) {
  const auto rows = parsed(R"j([
    {"serial":"A","verdict":"OK","reason":"","quarantined_until_ms":1763676800000,
     "fault":"hang: no step for 90 s"},
    {"serial":"B","verdict":"ARC_DEAD","reason":"no heartbeat","fault":"hang",
     "quarantined_until_ms":1763676800000},
    {"serial":"C","verdict":"OK","reason":"","fault":"hang","quarantined_until_ms":1763674999999}])j");
  const std::string told = boards(rows);
  EXPECT_THAT(told, HasSubstr("for 30 min 00 s: hang: no step for 90 s\n"));
  EXPECT_THAT(told, HasSubstr("for 30 min 00 s: hang; ARC_DEAD: no heartbeat\n"));
  EXPECT_THAT(told, ContainsRegex("A .*QUARANTINE"));
  EXPECT_THAT(told, ContainsRegex("C .* OK "));
}

TEST_F(FormatBoards, SamplesNameTheAttempt) {
  const auto rows = parsed(R"j([{"at_ms":1763674990000,"program":"run","attempt":7,
                                 "temperature_c":57}])j");
  const std::string told = text({"boards", "B"}, "/v1/boards/B/samples?limit=100", rows);
  EXPECT_THAT(told, HasSubstr("ATTEMPT  PROGRAM"));
  EXPECT_THAT(told, HasSubstr("      7  run"));
  EXPECT_THAT(told, HasSubstr("10 s ago"));
}

// Daemons from before there was a log in `why`, and before there were links.
class OfAnOlderDaemon : public CtlTest {
 protected:
  static std::string refusal(const std::string& kind, const std::string& what) {
    return json::serialize(json::object{
        {"error",
         json::object{{"kind", kind}, {"what", what}, {"where", "GET /v1/x"}, {"hint", "h"}}}});
  }
};

TEST_F(OfAnOlderDaemon, TheLogIsCutHere) {
  const std::filesystem::path attempt = folder_ / "0009";
  ASSERT_TRUE(make_folders(attempt));
  ASSERT_TRUE(write_file_durably(attempt / "stderr.log", "before\nCUDA out of memory\nafter\n"));
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/programs/t/why?lines=1",
                 {400, refusal("usage", "there is no parameter 'lines' (= '1') here"), "", false});
  const json::object evidence{{"source", "log rule oom-device-cuda"},
                              {"cause", "device_oom"},
                              {"weight", 60},
                              {"text", "CUDA out of memory"},
                              {"location", "stderr.log:2"}};
  daemon.answers(
      "GET /v1/programs/t/why",
      json::serialize(json::object{
          {"program", "t"},
          {"attempt",
           json::object{{"attempt", 9}, {"cause", "device_oom"}, {"folder", attempt.string()}}},
          {"evidence", json::array{evidence}}}));
  const Ran ran = ctl({"why", "t", "--lines", "1"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("around line 2, which decided:\n         1 | before\n"
                                 "  >      2 | CUDA out of memory\n         3 | after"));
}

TEST_F(OfAnOlderDaemon, OpenSaysWhatToDo) {
  FakeDaemon daemon(socket());
  daemon.answers("POST /v1/login-link?role=operator",
                 {404, refusal("usage", "there is no such resource"), "", false});
  const Ran ran = ctl({"open"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("older version"), HasSubstr("trainwardctl upgrade")));
}

}  // namespace
}  // namespace trainward::ctl
