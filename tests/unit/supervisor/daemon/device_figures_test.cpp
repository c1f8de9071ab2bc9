// Each figure of a device, from a worker's message to every place that shows it.
#include "common/protocol/device_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/os/file.hpp"
#include "supervisor/daemon/attempt/journal_events.hpp"
#include "supervisor/decide/view/device_view.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "supervisor/record/metrics/expose.hpp"
#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A different value for each figure and device, exact in every form.
DeviceWindow all_told(std::int64_t step = 120) {
  DeviceWindow window{step, 10, {{"a/L", {}}, {"a/R", {}}}};
  int place = 0;
  for (ToldDevice& device : window.devices) {
    for (const DeviceFigure& figure : device_figures) {
      put_at(device.figures, figure.member, 100.0 + ++place);
    }
  }
  return window;
}

JournalRecord journalled(const Message& message) {
  json::object fields;
  for (const auto& [key, value] : parse_message(encode(message))) fields[key] = value;
  JournalRecord record;
  record.type = "message";
  record.fields = {{"fields", std::move(fields)}};
  return record;
}

TEST(DeviceFigures, AMessageBringsThemAll) {
  const auto events = message_events(journalled(message_of(all_told())), "/c");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(std::get<core::DevicesTold>(events.front()).window, all_told());
}

TEST(DeviceFigures, AsManyDevicesAsThereMayBeFitIntoAMessage) {
  DeviceWindow window = all_told();
  window.step = max_step;
  const DeviceFigures largest{-1.2345678901234567e29, 1e9,           31536000000.0,
                              31536000000.0,          31536000000.0, max_memory_bytes,
                              max_memory_bytes};
  window.devices.assign(max_devices, {"0100014511728a37/R", largest});
  const Message message = message_of(window);
  for (const auto& [key, value] : message) EXPECT_LE(value.size(), max_value_bytes) << key;
  EXPECT_LE(encode(message).size(), max_message_bytes);
  EXPECT_THAT(told_devices(parse_message(encode(message))).value().devices, SizeIs(max_devices));
}

TEST(DeviceFigures, OfForeignMessagesOnlyWhatCanBeIsTaken) {
  const Message names{{"DEVICES", R"(["a", "b"])"}, {"DEVICES_STEP", "20"}};
  const auto with = [&](const std::string& key, const std::string& value) {
    Message message = names;
    std::erase_if(message, [&](const auto& pair) { return pair.first == key; });
    message.emplace_back(key, value);
    return told_devices(message);
  };
  EXPECT_EQ(with("DEVICES_STEPS", "10").value().steps, 10);
  EXPECT_EQ(with("DEVICES_STEPS", "21").value().steps, 20) << "there were no more";
  EXPECT_EQ(with("DEVICES_COMPUTE_MS", "[1.5, null]").value().devices[0].figures.compute_ms, 1.5);
  EXPECT_EQ(with("DEVICES_COMPUTE_MS", "[1.5, 2e99]").value().devices[1].figures, DeviceFigures());
  EXPECT_EQ(with("DEVICES_COMPUTE_MS", "[-1, 2]").value().devices[0].figures, DeviceFigures());
  for (const char* list : {"[1]", "[1, 2, 3]", "1", "{}", "[1, 2", "[[], {}]", "[\"1\", true]"}) {
    const auto told = with("DEVICES_COMPUTE_MS", list);
    ASSERT_TRUE(told) << list;
    EXPECT_EQ(told->devices[0].figures, DeviceFigures()) << list;
  }
  for (const char* wrong : {"[]", "[1, 2]", "a", "[\"a\"", "null"}) {
    EXPECT_FALSE(with("DEVICES", wrong)) << wrong;
  }
  for (const char* wrong : {"0", "-1", "x", "9223372036854775807"}) {
    EXPECT_FALSE(with("DEVICES_STEP", wrong)) << wrong;
  }
  EXPECT_EQ(with("DEVICES", R"(["\u001b[2J", "b"])").value().devices[0].name.find('\x1b'),
            std::string::npos);
}

TEST(DeviceFigures, NamesAreOnesOwn) {
  const auto told =
      told_devices({{"DEVICES", R"(["cuda:0", "cuda:0", ""])"}, {"DEVICES_STEP", "1"}});
  ASSERT_TRUE(told);
  std::vector<std::string> names;
  for (const ToldDevice& device : told->devices) names.push_back(device.name);
  EXPECT_THAT(names, ElementsAre("cuda:0", "cuda:0#1", "#2"));
}

TEST(DeviceFigures, WhatDoesNotFitIsAWarning) {
  const auto warning = [](const DeviceWindow& window) {
    const JournalRecord record = journalled(message_of(window));
    return out_of_range(record, message_events(record, "/c")).value_or("");
  };
  DeviceWindow window = all_told();
  EXPECT_EQ(warning(window), "");
  window.devices.assign(max_devices, {std::string(60, 'x'), {}});
  EXPECT_THAT(warning(window), HasSubstr("DEVICES"));
}

TEST(DeviceFigures, ALossThatIsNoNumberIsNotToldAsOne) {
  DeviceWindow window = all_told();
  window.devices[1].figures.loss = std::numeric_limits<double>::quiet_NaN();
  const auto told = told_devices(message_of(window));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->devices[1].figures.loss, std::nullopt);
  EXPECT_EQ(told->devices[0].figures, window.devices[0].figures);
}

class Kept : public testing::Test {
 protected:
  void SetUp() override {
    store::ProgramRow program;
    program.name = "a";
    program.state = "RUNNING";
    ASSERT_TRUE(store_.put_program(program));
    begin_attempt(1);
  }
  void begin_attempt(std::int64_t number) {
    store::AttemptRow attempt;
    attempt.program = "a";
    attempt.number = number;
    attempt.intended_ms = attempt.started_ms = 1'000;
    ASSERT_TRUE(store_.put_attempt(attempt));
  }
  void add(std::int64_t attempt, const DeviceWindow& window) {
    std::vector<store::DeviceRow> rows;
    for (const ToldDevice& told : window.devices) {
      const auto steps = static_cast<double>(window.steps);
      rows.push_back({told.figures, attempt, std::ssize(rows), told.name, window.step, window.steps,
                      60 * steps, 30 * steps, 10 * steps, 2'000});
    }
    ASSERT_TRUE(store_.add_devices("a", rows));
  }
  [[nodiscard]] json::array devices() const { return store_.devices_json("a").value(); }

  TemporaryFolder folder_;
  store::Store store_ = store::Store::open(folder_.path() / "run.db").value();
};

TEST_F(Kept, TheNewestFiguresAndTheSumsOfTheAttempt) {
  add(1, all_told(10));
  DeviceWindow newer = all_told(20);
  newer.devices[0].figures.loss = 7;
  add(1, newer);
  const json::array rows = devices();
  ASSERT_THAT(rows, SizeIs(2));
  const json::object& first = rows.front().as_object();
  EXPECT_EQ(string_or(first, "name", ""), "a/L");
  EXPECT_EQ(int_or(first, "step", 0), 20);
  EXPECT_EQ(int_or(first, "steps", 0), 20);
  EXPECT_EQ(number_or(first, "loss", 0), 7);
  EXPECT_DOUBLE_EQ(number_or(first, "compute_share", 0), 0.6);
  EXPECT_DOUBLE_EQ(number_or(first, "collective_share", 0), 0.3);
  EXPECT_DOUBLE_EQ(number_or(first, "input_wait_share", 0), 0.1);
  begin_attempt(2);
  EXPECT_THAT(devices(), SizeIs(2)) << "of the newest that told";
  add(2, {5, 5, {{"b", {}}}});
  EXPECT_THAT(devices(), SizeIs(1));
}

TEST_F(Kept, WindowsThatOverlapCountEachStepOnce) {
  const auto steps = [&] { return int_or(devices().at(0).as_object(), "steps", 0); };
  add(1, all_told(10));
  add(1, all_told(15));
  EXPECT_EQ(steps(), 15);
  add(1, all_told(15));
  add(1, all_told(12));
  EXPECT_EQ(steps(), 15) << "again";
  EXPECT_EQ(int_or(devices().at(0).as_object(), "step", 0), 15);
  ASSERT_TRUE(store_.add_devices("a", {{{}, 1, 0, "a/L", 20, 10, 1'000, 0, 0, 2'000}}));
  EXPECT_EQ(steps(), 20);
  EXPECT_DOUBLE_EQ(number_or(devices().at(0).as_object(), "compute_share", 0), 1'400.0 / 2'000)
      << "half of that window is new";
}

TEST_F(Kept, DevicesThatAreGoneAreNotShownAndAnotherOneBeginsAnew) {
  add(1, all_told(10));
  add(1, {20, 10, {{"b", {}}}});
  const json::array rows = devices();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(string_or(rows[0].as_object(), "name", ""), "b");
  EXPECT_EQ(int_or(rows[0].as_object(), "steps", 0), 10);
}

TEST_F(Kept, OfSoManyAttempts) {
  add(1, all_told());
  const std::int64_t later = 1 + store::attempts_with_devices;
  begin_attempt(later);
  add(later, all_told());
  EXPECT_THAT(store_.devices("a", 1).value(), SizeIs(0));
  EXPECT_THAT(store_.devices("a", later).value(), SizeIs(2));
}

TEST_F(Kept, EveryFigureIsShown) {
  const DeviceWindow told = all_told();
  add(1, told);
  const json::array rows = devices();
  const auto table = views::device_table(rows);
  const json::object status = store_.status_json(Time{{3'000}, {3'000}}).value().at(0).as_object();
  EXPECT_THAT(status.at("devices").as_array(), SizeIs(2));
  metrics::Collector collector;
  const metrics::Live live{
      .version = "1", .daemon = metrics::DaemonFigures{}, .folders = {}, .root = folder_.path()};
  store::StepRow step;
  step.step = 120;
  step.attempt = 1;
  ASSERT_TRUE(store_.add_step("a", step));
  const std::string exposed = metrics::expose(
      collector.snapshot(store_, live, Time{{3'000}, {3'000}}).value(), metrics::Format::text);
  for (const DeviceFigure& figure : device_figures) {
    const double value = *value_at(told.devices[1].figures, figure.member);
    EXPECT_EQ(number_or(rows.at(1).as_object(), figure.name, 0), value) << figure.name;
    EXPECT_THAT(table.columns, Contains(std::string(figure.title)));
    EXPECT_THAT(table.rows.at(1), Contains(unit_text(figure.unit, value)));
    EXPECT_THAT(exposed,
                HasSubstr(fmt::format("\n{}{{program=\"a\",device=\"a/R\"}} ", figure.metric)));
  }
  EXPECT_THAT(views::devices_text(rows),
              HasSubstr("2 devices, the slowest (a/R) computes 1.07 times as long"));
}

TEST(DeviceFigures, DocumentsNameThemAll) {
  const auto page = [](const std::string& name) {
    return read_file(std::string(SOURCE_FOLDER) + "/" + name, 16 << 20).value_or("");
  };
  for (const DeviceFigure& figure : device_figures) {
    EXPECT_THAT(page("docs/worker-protocol.md"),
                HasSubstr(fmt::format("| `DEVICES_{}` | ", message_key(figure.name))));
    EXPECT_THAT(page("docs/worker-protocol.md"), HasSubstr(fmt::format(" | {} |", figure.help)));
    EXPECT_THAT(page("docs/database.md"), HasSubstr(fmt::format("`{}`", figure.name)));
  }
}

}  // namespace
}  // namespace trainward::daemon
