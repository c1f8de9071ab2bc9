// Each figure of a step, from a worker's message to every place that shows it.
#include "common/protocol/step_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/os/file.hpp"
#include "supervisor/courier/tracking/step_metrics.hpp"
#include "supervisor/daemon/attempt/journal_events.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/evidence/foreign/log_watch.hpp"
#include "supervisor/evidence/foreign/status_file.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "supervisor/record/metrics/expose.hpp"
#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using testing::Contains;
using testing::HasSubstr;

// A different value for each, within its bounds and exact in every form.
double value_for(const StepFigure& figure, int place) {
  return figure.unit == FigureUnit::share ? place / 16.0 : 100.0 + place;
}

StepFigures all_told() {
  StepFigures told;
  int place = 0;
  for (const StepFigure& figure : step_figures) put(told, figure, value_for(figure, ++place));
  return told;
}

JournalRecord journalled(const StepFigures& told) {
  Message message{{"STEP", "7"}};
  put_figures(message, told);
  json::object fields;
  for (const auto& [key, value] : parse_message(encode(message))) fields[key] = value;
  JournalRecord record;
  record.type = "message";
  record.fields = {{"fields", std::move(fields)}};
  return record;
}

StepFigures only_step(const std::vector<core::Event>& events) {
  EXPECT_EQ(events.size(), 1U);
  return std::get<core::StepDone>(events.at(0)).figures;
}

class Recorded : public testing::Test {
 protected:
  void SetUp() override {
    store::ProgramRow program;
    program.name = "a";
    program.state = "RUNNING";
    ASSERT_TRUE(store_.put_program(program));
    store::AttemptRow attempt;
    attempt.program = "a";
    attempt.number = 1;
    attempt.intended_ms = attempt.started_ms = 1'000;
    ASSERT_TRUE(store_.put_attempt(attempt));
    ASSERT_TRUE(store_.add_step("a", {told_, 7, 1, 2'000}));
  }
  [[nodiscard]] json::object status() const {
    return store_.status_json(Time{{3'000}, {3'000}}).value().at(0).as_object();
  }

  TemporaryFolder folder_;
  store::Store store_ = store::Store::open(folder_.path() / "run.db").value();
  const StepFigures told_ = all_told();
};

TEST(StepFigures, AMessageBringsThemAll) {
  EXPECT_EQ(only_step(message_events(journalled(all_told()), "/c")), all_told());
}

TEST(StepFigures, BeyondItsBoundsEachIsLeftOutAndNamed) {
  for (const StepFigure& figure : step_figures) {
    StepFigures told;
    put(told, figure, 2 * most_of(figure.unit));
    const JournalRecord record = journalled(told);
    const auto seen = value_of(only_step(message_events(record, "/c")), figure);
    if (figure.name == "loss") {
      EXPECT_TRUE(seen && std::isinf(*seen));
    } else {
      EXPECT_EQ(seen, std::nullopt) << figure.name;
    }
    EXPECT_THAT(out_of_range(record, {}).value_or(""), HasSubstr("is beyond")) << figure.name;
  }
}

TEST(StepFigures, ForeignOutputBringsThemByName) {
  std::string rule = "(?P<step>[0-9]+)";
  std::string line = "7";
  json::object status{{"step", 7}};
  foreign::StatusKeys keys;
  for (const StepFigure& figure : step_figures) {
    const double value = *value_of(all_told(), figure);
    rule += fmt::format(" (?P<{}>[0-9.]+)", figure.name);
    line += fmt::format(" {}", value);
    status[figure.name] = value;
  }
  status[keys.tokens] = *all_told().tokens;
  status[keys.tokens_per_second] = *all_told().tokens_per_second;
  ASSERT_TRUE(foreign::check({rule, ""}));
  foreign::LogWatch watch({{rule, ""}}, "/");
  EXPECT_EQ(only_step(watch.feed(line + "\n")), all_told());
  EXPECT_EQ(only_step(foreign::StatusFile(keys).read(json::serialize(status))), all_told());
}

TEST_F(Recorded, TheDatabaseKeepsAndExportsThem) {
  const auto columns = store_.names_of(store::Store::Table::steps).value();
  for (const StepFigure& figure : step_figures) {
    EXPECT_THAT(columns, Contains(std::string(figure.name)));
  }
  EXPECT_EQ(static_cast<StepFigures>(store_.newest_told("a").value().value()), told_);
}

TEST_F(Recorded, TopAndThePageShowThem) {
  const json::object row = status();
  const std::string text = views::newest_step_text(row);
  for (const StepFigure& figure : step_figures) {
    EXPECT_EQ(get_number(row.at("figures").as_object(), figure.name).value(),
              value_of(told_, figure).value());
    if (figure.name == "loss") continue;
    EXPECT_THAT(text, HasSubstr(figure_text(figure, *value_of(told_, figure))));
  }
}

TEST_F(Recorded, MetricsAndTrackersGetThem) {
  metrics::Collector collector;
  const metrics::Live live{
      .version = "1", .daemon = metrics::DaemonFigures{}, .folders = {}, .root = folder_.path()};
  const auto snapshot = collector.snapshot(store_, live, Time{{3'000}, {3'000}});
  ASSERT_TRUE(snapshot);
  const std::string text = metrics::expose(*snapshot, metrics::Format::text);
  std::set<std::string> tags;
  tracking::each_metric({told_, 7, 1, 2'000}, [&](std::string_view tag, const auto& value) {
    EXPECT_TRUE(value) << tag;
    tags.emplace(tag);
  });
  for (const StepFigure& figure : step_figures) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\n{}{{program=\"a\"}} ", figure.metric)));
    if (figure.tag.empty()) continue;
    EXPECT_THAT(tags, Contains(std::string(figure.tag)));
  }
}

TEST(StepFigures, DocumentsNameThemAll) {
  const auto page = [](const std::string& name) {
    return read_file(std::string(SOURCE_FOLDER) + "/" + name, 16 << 20).value_or("");
  };
  const std::string protocol = page("docs/worker-protocol.md");
  const std::string database = page("docs/database.md");
  const std::string tracking = page("docs/tracking.md");
  const std::string curve = page("supervisor/window/page/assets/curve.js");
  for (const StepFigure& figure : step_figures) {
    std::string key(figure.name);
    for (char& c : key) c = static_cast<char>(std::toupper(c));
    EXPECT_THAT(protocol, HasSubstr("| `" + key + "` | "));
    EXPECT_THAT(protocol, HasSubstr(" | " + std::string(figure.help) + " |"));
    EXPECT_THAT(database, HasSubstr("`" + std::string(figure.name) + "`"));
    EXPECT_THAT(tracking, HasSubstr(std::string(figure.tag)));
    if (!figure.curve) continue;
    EXPECT_THAT(curve, HasSubstr("['" + std::string(figure.name) + "'"));
  }
}

}  // namespace
}  // namespace trainward::daemon
