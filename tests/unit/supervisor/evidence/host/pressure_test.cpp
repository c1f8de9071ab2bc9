// Memory pressure: its text, and the real one where there is one.
#include "supervisor/evidence/host/pressure.hpp"

#include "common/os/processes/host_files.hpp"
#include "fake_host.hpp"

namespace trainward::host {
namespace {

TEST(ParsePressure, Numbers) {
  EXPECT_EQ(parse_pressure("some avg10=1.50 avg60=2.25 avg300=0.00 total=12\n"
                           "full avg10=0.50 avg60=0.25 avg300=0.00 total=3\n"),
            (Pressure{1.5, 2.25, 0.5, 0.25}));
  EXPECT_EQ(parse_pressure("some avg10=100.00 avg60=9999 avg300=0 total=1"),
            (Pressure{100, 100, 0, 0}));
  for (const char* text : {"", "some", "some avg10= avg60=1", "some avg10=nan avg60=1",
                           "full avg10=1 avg60=1", "some avg10=1.5x avg60=1", "\xff\xff\xff"}) {
    EXPECT_FALSE(parse_pressure(text)) << text;
  }
}

TEST(ParsePressure, Words) {
  EXPECT_EQ(in_words({23.4, 12, 8, 3}),
            "programs waited for memory 23% of the last 10 s (60 s: 12%); nothing moved 8% "
            "(60 s: 3%)");
}

std::optional<Pressure> pressure_in(const std::filesystem::path& file) {
  const auto text = read_some(file, 4096);
  return text ? parse_pressure(*text) : std::nullopt;
}

using PressureFile = FakeHost;

TEST_F(PressureFile, TheWorkersOwnBeforeTheMachines) {
  Cgroups cgroups;
  cgroups.unified.folder = root() / "cg";
  EXPECT_EQ(pressure_file(root(), cgroups), root() / "proc/pressure/memory");
  EXPECT_FALSE(pressure_in(pressure_file(root(), cgroups)));
  write("cg/memory.pressure", "some avg10=1 avg60=2\n");
  EXPECT_EQ(pressure_in(pressure_file(root(), cgroups))->some_60, 2);
}

TEST_F(PressureFile, WhatCannotWakeUsIsAnErrorAndUntouched) {
  EXPECT_FALSE(PressureWatch::open(root() / "absent"));
  write("file", "some avg10=1 avg60=2\n");
  const auto watch = PressureWatch::open(root() / "file");
  ASSERT_FALSE(watch);
  EXPECT_TRUE(pressure_in(root() / "file")) << "nothing may be written into it";
}

TEST(RealPressure, CanBeReadAndWaitedFor) {
  const auto file = pressure_file("/", cgroups_of("/", ::getpid()));
  if (!pressure_in(file)) GTEST_SKIP() << "this kernel has no " << file;
  auto watch = PressureWatch::open(file);
  if (!watch) GTEST_SKIP() << watch.error().message();
  const auto fact = watch->take({0, 1000});
  ASSERT_TRUE(fact);
  EXPECT_EQ(fact->weight, 30);
  EXPECT_EQ(fact->cause, core::Cause::host_oom);
  EXPECT_FALSE(watch->take({0, 2000})) << "once in five minutes";
  EXPECT_TRUE(watch->take({0, 400'000}));
}

}  // namespace
}  // namespace trainward::host
