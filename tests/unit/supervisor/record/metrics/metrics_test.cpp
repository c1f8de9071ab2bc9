// Both formats, read back by a strict reader written from their descriptions; the documents and
// what is shipped against the table; counters over a new daemon and a database that grows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "common/base/utf8.hpp"
#include "common/os/file.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "supervisor/record/metrics/expose.hpp"
#include "supervisor/record/metrics/exposition.hpp"
#include "temporary_folder.hpp"

namespace trainward::metrics {
namespace {

using testing::HasSubstr;
using Samples = std::map<std::string, std::map<std::vector<std::string>, double>>;

// Label values out of `text` from `at`, which stands behind the brace; where the braces end.
std::vector<std::string> labels_of(const std::string& text, std::size_t& at) {
  std::vector<std::string> values;
  while (text.at(at) != '}') {
    if (!values.empty()) {
      EXPECT_EQ(text.at(at++), ',');
    }
    const auto equals = text.find('=', at);
    EXPECT_TRUE(
        std::regex_match(text.substr(at, equals - at), std::regex("[a-zA-Z][a-zA-Z0-9_]*")));
    at = equals + 1;
    EXPECT_EQ(text.at(at++), '"');
    std::string value;
    for (; text.at(at) != '"'; ++at) {
      if (text.at(at) != '\\') {
        value += text.at(at);
        continue;
      }
      const char escaped = text.at(++at);
      EXPECT_THAT(std::string("\\\"n"), HasSubstr(std::string(1, escaped)));
      value += escaped == 'n' ? '\n' : escaped;
    }
    ++at;
    values.push_back(value);
  }
  ++at;
  return values;
}

Samples read_back(const std::string& text, Format format) {
  const bool open = format == Format::openmetrics;
  EXPECT_TRUE(is_utf8(text));
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.ends_with("\n# EOF\n"), open);
  Samples samples;
  std::set<std::string> families;
  std::string family;
  std::string type;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "# EOF") {
      EXPECT_TRUE(lines.peek() == EOF);
      break;
    }
    if (line.starts_with("# ")) {
      std::istringstream words(line);
      std::string hash, word, name, rest;
      words >> hash >> word >> name >> rest;
      if (word == "TYPE") {
        EXPECT_TRUE(families.insert(name).second) << "not in one piece: " << name;
        family = name;
        type = rest;
        EXPECT_TRUE(type == "gauge" || type == "counter") << line;
      }
      EXPECT_EQ(name, family);
      if (word == "UNIT") {
        EXPECT_TRUE(open && name.ends_with("_" + rest)) << line;
      }
      continue;
    }
    std::size_t at = line.find_first_of("{ ");
    const std::string name = line.substr(0, at);
    EXPECT_EQ(name, open && type == "counter" ? family + "_total" : family);
    std::vector<std::string> labels;
    if (line.at(at) == '{') labels = labels_of(line, ++at);
    EXPECT_EQ(line.at(at), ' ');
    const std::string number = line.substr(at + 1);
    EXPECT_EQ(number.find(' '), std::string::npos) << "a time: " << line;
    const double value = number == "NaN" ? std::nan("") : std::stod(number);
    if (type == "counter") {
      EXPECT_GE(value, 0) << line;
    }
    EXPECT_TRUE(samples[name].emplace(labels, value).second) << "twice: " << line;
  }
  return samples;
}

TEST(Exposition, HostileLabelsComeBackWhole) {
  constexpr unsigned seed = 19;
  std::mt19937 random(seed);
  const std::string bytes = "a\"\\\n{},= #\x01\x7f\xc3\xa4\xe2\x82\xac";
  for (int round = 0; round < 300; ++round) {
    std::string label;
    while (random() % 12 != 0) label += bytes[random() % bytes.size()];
    for (const Format format : {Format::text, Format::openmetrics}) {
      Exposition out(format);
      out.family(Metric::evaluation_loss);
      out.sample({label}, 0.1);
      auto samples = read_back(std::move(out).take(), format);
      EXPECT_EQ(samples["trainward_evaluation_loss"].begin()->first.front(), valid_utf8(label))
          << seed;
      EXPECT_EQ(samples["trainward_evaluation_loss"].begin()->second, 0.1);
    }
  }
}

TEST(Exposition, CountersAreNeverNegativeOrNoNumber) {
  Exposition out(Format::text);
  out.family(Metric::steps_lost);
  out.sample({"a"}, -1);
  out.sample({"b"}, std::nan(""));
  EXPECT_EQ(std::move(out).take(), "");
}

TEST(Format, AcceptDecides) {
  EXPECT_EQ(wanted_format("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                          "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            Format::openmetrics);
  for (const char* text : {"", "*/*", "text/plain", "nonsense", "application/openmetrics-text;q=0",
                           "application/openmetrics-text;q=0.4,text/plain;q=0.5",
                           "application/openmetrics-text;version=2.0.0"}) {
    EXPECT_EQ(wanted_format(text), Format::text) << text;
  }
}

std::string file(const std::string& path) {
  return read_file(std::string(SOURCE_FOLDER) + "/" + path, 16 << 20).value_or("");
}

TEST(Table, DocumentsHaveEveryMetricAndNoOther) {
  const std::string page = file("docs/metrics.md");
  for (const MetricFacts& row : table) {
    std::string labels;
    for (const auto label : row.labels) {
      labels += (labels.empty() ? "`" : ", `") + std::string(label) + "`";
    }
    EXPECT_THAT(
        page, HasSubstr("| `" + std::string(row.name) + "` | " + std::string(to_string(row.type)) +
                        " | " + (labels.empty() ? "–" : labels) + " | " + std::string(row.help)));
    EXPECT_EQ(row.name.ends_with("_total"), row.type == Type::counter) << row.name;
    if (!row.unit.empty()) {
      EXPECT_TRUE(family_of(row).ends_with("_" + std::string(row.unit))) << row.name;
    }
  }
}

// What is shipped for others names metrics that exist.
TEST(Table, RulesAndDashboardNameOnlyWhatExists) {
  std::set<std::string> known;
  for (const MetricFacts& row : table) known.emplace(row.name);
  const std::filesystem::path folder = std::string(SOURCE_FOLDER) + "/supervisor/record/metrics";
  for (const char* name : {"prometheus/trainward.rules.yml", "grafana/trainward.json"}) {
    if (!std::filesystem::exists(folder / name)) continue;  // reported as skipped below
    const std::string text = read_file(folder / name, 16 << 20).value();
    const std::regex word(R"(\btrainward_[a-z_]+)");
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
      EXPECT_TRUE(known.contains(at->str())) << name << ": " << at->str();
    }
  }
  if (!std::filesystem::exists(folder / "prometheus")) GTEST_SKIP() << "no rules are here yet";
}

TEST(Collector, CountersGoOnInANewDaemon) {
  const TemporaryFolder folder;
  auto store = store::Store::open(folder.path() / "run.db").value();
  store::ProgramRow program;
  program.name = "a";
  program.state = "RUNNING";
  program.core_state = R"({"wanted": true, "span": {"phase": "stepping", "cause": "",
      "since": {"wall_ms": 1000, "mono_ms": 1000}}})";
  ASSERT_TRUE(store.put_program(program));
  Collector old;
  const auto scrape = [&](Collector& collector, std::int64_t at_ms) {
    const Live live{
        .version = "1", .daemon = DaemonFigures{}, .folders = {}, .root = folder.path()};
    auto snapshot = collector.snapshot(store, live, Time{{at_ms}, {at_ms}});
    EXPECT_TRUE(snapshot.has_value());
    return read_back(expose(*snapshot, Format::openmetrics), Format::openmetrics);
  };
  Samples before = scrape(old, 3'000);
  EXPECT_EQ(before["trainward_attempts_ended_total"].at({"a", "hang"}), 0);
  EXPECT_EQ(before["trainward_phase_seconds_total"].at({"a", "stepping", ""}), 2);
  EXPECT_EQ(before["trainward_program_state"].at({"a", "RUNNING"}), 1);
  EXPECT_FALSE(before.contains("trainward_loss"));
  for (std::int64_t number = 1; number <= 20; ++number) {
    store::AttemptRow row;
    row.program = "a";
    row.number = number;
    row.intended_ms = row.started_ms = number * 10'000;
    row.resume_step = (number - 1) * 6;
    row.first_step = row.resume_step + 1;
    row.last_step = row.resume_step + 10;
    row.kept_step = row.resume_step + 6;
    row.ended_ms = row.started_ms + 5'000;
    row.cause = number % 2 == 0 ? "hang" : "device_oom";
    ASSERT_TRUE(store.put_attempt(row));
    for (std::int64_t step = row.first_step; step <= row.last_step; ++step) {
      store::StepRow told;
      told.step = step;
      told.attempt = number;
      told.tokens = step * 100;
      told.loss = step == 124 ? std::nan("") : 2.0;
      ASSERT_TRUE(store.add_step("a", told));
    }
    ASSERT_TRUE(store.add_span("a", {number, "stepping", "", number * 1'000, 700}));
    const std::int64_t at_ms = 10'000 * (number + 1);
    Samples next = scrape(old, at_ms);
    Collector fresh;
    Samples again = scrape(fresh, at_ms);
    for (const MetricFacts& metric : table) {
      if (metric.type != Type::counter) continue;
      const std::string name(metric.name);
      for (const auto& [labels, value] : before[name]) {
        EXPECT_GE(next[name].at(labels), value) << name;
      }
      EXPECT_EQ(again[name], next[name]) << name << " of a new daemon";
    }
    before = next;
  }
  EXPECT_EQ(before["trainward_attempts_ended_total"].at({"a", "hang"}), 10);
  EXPECT_EQ(before["trainward_steps_lost_total"].at({"a"}), 80);
  EXPECT_EQ(before["trainward_steps_replayed_total"].at({"a"}), 76);
  EXPECT_EQ(before["trainward_tokens_processed_total"].at({"a"}), 20'000);
  EXPECT_TRUE(std::isnan(before["trainward_loss"].at({"a"})));
}

// What a worker told of a step is shown while it runs, and not after it.
TEST(Collector, UtilizationIsThatOfTheStepThatRuns) {
  const TemporaryFolder folder;
  auto store = store::Store::open(folder.path() / "run.db").value();
  store::ProgramRow program;
  program.name = "a";
  program.state = "RUNNING";
  ASSERT_TRUE(store.put_program(program));
  store::AttemptRow attempt;
  attempt.program = "a";
  attempt.number = 1;
  attempt.intended_ms = attempt.started_ms = 1'000;
  ASSERT_TRUE(store.put_attempt(attempt));
  store::StepRow step;
  step.step = 1;
  step.attempt = 1;
  step.mfu = 0.41;
  step.communication = 0.07;
  step.device_memory = std::int64_t{9} << 30;
  step.device_memory_limit = std::int64_t{12} << 30;
  ASSERT_TRUE(store.add_step("a", step));
  ASSERT_TRUE(store.put_board("01", "n300", "0000:c1:00.0", "OK", "", 1'000));
  store::BoardSampleRow sample;
  sample.serial = "01";
  sample.at_ms = 1'500;
  sample.program = "a";
  sample.attempt = 1;
  sample.temperature_c = 71;
  sample.aer_fatal = 2;
  ASSERT_TRUE(store.add_board_sample(sample));
  const auto scrape = [&] {
    Collector collector;
    auto snapshot = collector.snapshot(store, {"1", DaemonFigures{}, {}}, Time{{9'000}, {9'000}});
    EXPECT_TRUE(snapshot.has_value());
    return read_back(expose(*snapshot, Format::text), Format::text);
  };
  Samples samples = scrape();
  EXPECT_EQ(samples["trainward_model_flops_utilization"].at({"a"}), 0.41);
  EXPECT_EQ(samples["trainward_communication_share"].at({"a"}), 0.07);
  EXPECT_EQ(samples["trainward_device_memory_bytes"].at({"a"}), 9.0 * (1 << 30));
  EXPECT_EQ(samples["trainward_device_memory_limit_bytes"].at({"a"}), 12.0 * (1 << 30));
  EXPECT_EQ(samples["trainward_board_temperature_celsius"].at({"01"}), 71);
  attempt.ended_ms = 2'000;
  ASSERT_TRUE(store.put_attempt(attempt));
  samples = scrape();
  EXPECT_FALSE(samples.contains("trainward_board_temperature_celsius")) << "it cools down";
  EXPECT_EQ(samples["trainward_board_aer_errors_total"].at({"01", "fatal"}), 2);
  EXPECT_FALSE(samples.contains("trainward_model_flops_utilization"));
  EXPECT_FALSE(samples.contains("trainward_device_memory_bytes"));
}

// The kernel's words, and whatever else may stand in their place.
TEST(Host, ReadsWhatTheKernelSaysAndNeverGoesBack) {
  const TemporaryFolder root;
  const auto write = [&](const char* name, std::string_view text) {
    const auto file = root.path() / "proc" / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  auto store = store::Store::open(root.path() / "run.db").value();
  Collector collector;
  const auto scrape = [&] {
    const Live live{.version = "1", .daemon = {}, .folders = {}, .root = root.path()};
    auto snapshot = collector.snapshot(store, live, Time{{1}, {1}});
    EXPECT_TRUE(snapshot.has_value());
    return read_back(expose(*snapshot, Format::openmetrics), Format::openmetrics);
  };
  EXPECT_FALSE(scrape().contains("trainward_host_memory_bytes"));
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  write("meminfo", "MemTotal:       24000 kB\nMemFree:  1 kB\nMemAvailable:  12000 kB\n");
  write("stat", "cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  write("pressure/io",
        "some avg10=0.00 avg60=0.10 avg300=0.00 total=2500000\nfull avg10=0.00 total=1\n");
  write("pressure/cpu", "nonsense");
  Samples samples = scrape();
  EXPECT_EQ(samples["trainward_host_memory_bytes"].at({}), 24'000.0 * 1024);
  EXPECT_EQ(samples["trainward_host_memory_available_bytes"].at({}), 12'000.0 * 1024);
  EXPECT_DOUBLE_EQ(samples["trainward_host_cpu_seconds_total"].at({"busy"}), 171 / ticks);
  EXPECT_DOUBLE_EQ(samples["trainward_host_cpu_seconds_total"].at({"idle"}), 4'000 / ticks);
  EXPECT_DOUBLE_EQ(samples["trainward_host_cpu_seconds_total"].at({"iowait"}), 500 / ticks);
  EXPECT_EQ(samples["trainward_host_stalled_seconds_total"].size(), 1U);
  EXPECT_EQ(samples["trainward_host_stalled_seconds_total"].at({"io"}), 2.5);
  write("stat", "cpu  200 20 30 4000 400 6 7 8 90 10\n");
  samples = scrape();
  EXPECT_DOUBLE_EQ(samples["trainward_host_cpu_seconds_total"].at({"busy"}), 271 / ticks);
  EXPECT_DOUBLE_EQ(samples["trainward_host_cpu_seconds_total"].at({"iowait"}), 500 / ticks);
}

}  // namespace
}  // namespace trainward::metrics
