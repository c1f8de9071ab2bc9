#include "hwprobe/described/described.hpp"

#include <gmock/gmock.h>

#include "fake_host.hpp"
#include "hwprobe/draw/board_table.hpp"
#include "hwprobe/health.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

using Described = FakeHost;

TEST(ShippedHost, FirstBoardIsRefusedAndSecondIsHealthy) {
  const std::filesystem::path file =
      std::filesystem::path(SOURCE_FOLDER) / "examples/hosts/two-n300.yaml";
  const auto report = look_at_described(file);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->source, "described");
  ASSERT_EQ(report->boards.size(), 2U);
  EXPECT_EQ(health(*report), Health::degraded);

  const Board& broken = report->boards[0];
  EXPECT_EQ(broken.serial, "0100014511708037");
  EXPECT_EQ(broken.verdict, Verdict::remote_lost);
  EXPECT_FALSE(usable(broken.verdict));
  ASSERT_EQ(broken.chips.size(), 2U);
  EXPECT_EQ(broken.chips[0].verdict, Verdict::ok);
  EXPECT_EQ(broken.chips[1].verdict, Verdict::remote_lost);
  ASSERT_EQ(broken.evidence.size(), 3U);
  EXPECT_EQ(broken.evidence[0].what,
            "chip R cannot be reached: both on-board Ethernet links are down");
  EXPECT_THAT(broken.evidence[0].advice, HasSubstr("reset both boards together"));
  EXPECT_THAT(broken.evidence[0].advice, HasSubstr("quarantine"));
  EXPECT_EQ(broken.evidence[1].what,
            "on-board link L:8 to R:0 is down (training failed, after 77 retrainings)");

  const Board& healthy = report->boards[1];
  EXPECT_EQ(healthy.verdict, Verdict::ok);
  EXPECT_TRUE(healthy.evidence.empty());
  EXPECT_EQ(healthy.chips[1].temperature_c, 38.0);
}

TEST(ShippedHost, RunsOutOfMemoryAtTheTwentySixthStep) {
  const auto report =
      look_at_described(std::filesystem::path(SOURCE_FOLDER) / "examples/hosts/two-n300.yaml");
  ASSERT_TRUE(report);
  const json::object& simulate = report->boards.at(1).simulate;
  const auto number = [&](const char* key) { return simulate.at(key).as_int64(); };
  const std::int64_t room = number("dram_bytes") - number("base_bytes");
  EXPECT_EQ(room / number("leak_bytes_per_step"), 25);
  EXPECT_EQ(simulate.at("hang").at("attempt").as_int64(), 5);
  EXPECT_EQ(simulate.at("hang").at("after_steps").as_int64(), 12);
}

TEST_F(Described, SaysWhatIsWrongAndWhere) {
  const auto look = [&](const std::string& text) {
    const auto report = look_at_described(write("h.yaml", text));
    return report ? std::string("no error") : report.error().message();
  };
  EXPECT_THAT(look("boards:\n  - serial: 0100014511708037\n"),
              HasSubstr("h.yaml:2:13: boards[0].serial: expected text, found the number "
                        "0100014511708037; put it in quotes"));
  EXPECT_THAT(look("boards:\n  - serial: \"01\"\n    kind: n300\n"),
              testing::AllOf(HasSubstr("expected 16 hexadecimal digits"),
                             HasSubstr("(and 1 more problem)")));
  EXPECT_THAT(look("boards:\n  - type: n300\n"), HasSubstr("2:5: boards[0]: missing key 'serial'"));
  EXPECT_THAT(look("bords: []\n"), HasSubstr("missing key 'boards'"));
  EXPECT_THAT(look("boards: 5\n"), HasSubstr("expected a list of at most 64 entries"));
  EXPECT_THAT(look("boards: ["), HasSubstr("not valid YAML"));
  EXPECT_THAT(look_at_described(folder_ / "none").error().message(), HasSubstr("No such file"));
}

TEST_F(Described, EmptyHostIsUnusable) {
  const auto report = look_at_described(write("h.yaml", "boards: []\n"));
  ASSERT_TRUE(report);
  EXPECT_EQ(health(*report), Health::unusable);
  EXPECT_EQ(to_table(*report), "the file describes no boards\n");
}

TEST_F(Described, TableShowsVerdictsWithReasons) {
  const auto report = look_at_described(write("h.yaml", R"(boards:
  - serial: "00000000000000aa"
    chips: [{id: L, temperature_c: 80}]
    simulate: {name: "5", deep: [1, 0.5, true, null]}
)"));
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(json::serialize(report->boards[0].simulate),
            R"({"name":"5","deep":[1,5E-1,true,null]})");
  const std::string table = to_table(*report);
  EXPECT_THAT(table, HasSubstr("00000000000000aa  n300   -             L HOT 80°C"));
  EXPECT_THAT(table, HasSubstr("    chip L is at 80.0 °C, its limit is 75 °C\n"
                               "      -> let it cool down and check the air flow\n"));
}

TEST_F(Described, ASerialNumberIsThatOfOneBoard) {
  const auto report = look_at_described(write("h.yaml",
                                              "boards:\n  - serial: \"00000000000000aa\"\n"
                                              "  - serial: \"00000000000000AA\"\n"));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("boards[1].serial: there is a board"));
}

TEST_F(Described, ACableThatIsDownIsNamedWithItsConnector) {
  const auto report = look_at_described(write("h.yaml", R"(boards:
  - serial: "00000000000000aa"
    chips: [{id: L}, {id: R}]
    links:
      - {from: "L:8-9", to: "R:0-1"}
      - {from: "L:6", to: "00000000000000bb/L:0", up: false}
      - {from: "00000000000000bb/R:6", to: "R:7", retrains: 1}
)"));
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->boards[0].verdict, Verdict::degraded);
  const std::string table = to_table(*report);
  EXPECT_THAT(table,
              HasSubstr("    link L:6 (QSFP 1) to 00000000000000bb/L:0 is down (training failed)\n"
                        "      -> check both plugs"));
  EXPECT_THAT(table, HasSubstr("    link 00000000000000bb/R:6 to R:7 (WARP100 2) was retrained"));
}

TEST_F(Described, AFileMayBeLikeOneBesideIt) {
  const std::string board = "  - {serial: \"0100014511708037\", chips: [{id: L}]}\n";
  write("base.yaml", "boards:\n" + board);
  write("nested.yaml", "like: base.yaml\n");
  const auto problem = [&](const std::string& text) {
    const auto report = look_at_described(write("host.yaml", text));
    return report ? "" : report.error().message();
  };
  EXPECT_EQ(problem("like: base.yaml\n"), "");
  EXPECT_EQ(problem("like: base.yaml\nboards: [{serial: \"0100014511708037\", type: n150}]\n"), "");
  EXPECT_THAT(problem("like: base.yaml\nboards: [{serial: \"0100014511708038\"}]\n"),
              HasSubstr("has no such entry: the same serial"));
  EXPECT_THAT(
      problem("like: base.yaml\nboards: [{serial: \"0100014511708037\", chips: [{id: R}]}]\n"),
      HasSubstr("the same id"));
  EXPECT_THAT(problem("like: nested.yaml\n"), HasSubstr("like another file itself"));
  EXPECT_THAT(problem("like: host.yaml\n"), HasSubstr("like another file itself"));
  EXPECT_THAT(problem("like: ../base.yaml\n"), HasSubstr("in the same folder"));
  EXPECT_THAT(problem("like: absent.yaml\n"), HasSubstr("absent.yaml"));
  EXPECT_THAT(problem("like: [a]\n"), HasSubstr("like"));
  EXPECT_THAT(problem("like: base.yaml\nboards: 3\n"), HasSubstr("boards"));
  EXPECT_THAT(problem("like: base.yaml\nboards: [3]\n"), HasSubstr("no such entry"));
}

}  // namespace
}  // namespace trainward::hwprobe
