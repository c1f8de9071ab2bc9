#include <gtest/gtest.h>

#include <fstream>

#include "supervisor/decide/core/reflect.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::core {
namespace {

// Gives each member of each part of a state a value of its own, by what the structs say of
// themselves.
struct Filler {
  int number = 0;

  template <typename T>
  void fill(std::vector<T>& list) {
    list.resize(2);
    for (T& item : list) fill(item);
  }
  template <typename T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <typename K, typename T>
  void fill(std::map<K, T>& map) {
    for (int i = 0; i < 2; ++i) {
      K key{};
      fill(key);
      fill(map[key]);
    }
  }
  template <typename Clock>
  void fill(Instant<Clock>& at) {
    fill(at.ms);
  }
  void fill(Step& step) { fill(step.number); }
  void fill(Time& at) {
    fill(at.wall);
    fill(at.mono);
  }
  template <typename T>
  void fill(T& value) {
    ++number;
    if constexpr (reflect::Described<T>) {
      reflect::each_member(value, [this](const char* /*name*/, auto& member) { fill(member); });
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = "\"quoted\"\n" + std::to_string(number);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1 + number % 5);
    } else {
      value = static_cast<T>(number + number / 8.0);
    }
  }
};

json::value parsed(const json::value& value) {
  return parse_json(json::serialize(value), "test").value();
}

TEST(StateJson, RoundTrip) {
  State state;
  Filler().fill(state);
  const json::object written = to_json(state);
  for (const auto& [name, value] : to_json(State{})) {
    EXPECT_NE(written.at(name), value) << name << " was not filled";
  }
  auto again = state_from_json(parsed(written));
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(*again, state);
}

template <typename T>
std::size_t count_leaves(const T& part) {
  std::size_t leaves = 0;
  reflect::each_member(part, [&](const char* /*name*/, const auto&) { ++leaves; });
  return leaves;
}

// Members of two parts under one name would overwrite each other.
TEST(StateJson, EachMemberOfEachPartHasANameOfItsOwn) {
  const State state;
  const std::size_t parts = 5;
  EXPECT_EQ(to_json(state).size(), count_leaves(state) - parts + count_leaves(state.current) +
                                       count_leaves(state.watch) + count_leaves(state.history) +
                                       count_leaves(state.next) + count_leaves(state.boards));
}

// What `now` has of the members that were there once: later ones stand beside them.
json::value as_far_as(const json::value& once, const json::value& now) {
  if (!once.is_object() || !now.is_object()) return now;
  json::object same;
  for (const auto& [name, value] : once.get_object()) {
    if (now.get_object().contains(name)) same[name] = as_far_as(value, now.at(name));
  }
  return same;
}

// As it was written when a state had no parts, with every member set.
TEST(StateJson, AStateStoredBeforeItHadPartsIsReadAndWrittenAsItWas) {
  std::ifstream file(SOURCE_FOLDER "/tests/unit/supervisor/decide/core/stored_state.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const json::value stored = parse_json(text, "stored_state.json").value();
  const auto state = state_from_json(stored);
  ASSERT_TRUE(state.has_value()) << state.error().message();
  const json::object written = to_json(*state);
  for (const auto& [name, value] : stored.as_object()) {
    ASSERT_TRUE(written.contains(name)) << name;
    EXPECT_EQ(as_far_as(value, parsed(written).at(name)), value) << name;
  }
  const json::object usual = to_json(State{});
  for (const auto& [name, value] : stored.as_object()) EXPECT_NE(usual.at(name), value) << name;
}

TEST(StateJson, EveryStageHasItsWord) {
  for (int i = 0; i <= static_cast<int>(Stage::fatal); ++i) {
    const auto stage = static_cast<Stage>(i);
    Stage again = Stage::stopped;
    EXPECT_TRUE(from_string(to_string(stage), again));
    EXPECT_EQ(again, stage);
  }
}

// What another release wrote, in words that this one does not know.
TEST(StateJson, WordsOfAnotherReleaseAreTakenForWhatTheyMayBe) {
  const auto state = state_from_json(parse_json(R"({"stage": "backoff", "wanted": true,
      "last_cause": "sunspots", "rungs": {"hang": 1, "sunspots": 4, "unreadable": 2},
      "repairs": ["turn_round", "purge_caches"], "kill": {"cause": "nan", "why": "w"},
      "faults": [{"cause": "sunspots", "step": 3}]})",
                                                "test")
                                         .value());
  ASSERT_TRUE(state.has_value()) << state.error().message();
  EXPECT_EQ(state->history.last_cause, Cause::unknown);
  EXPECT_EQ(state->history.rungs, (std::map<Cause, int>{{Cause::hang, 1}}));
  EXPECT_EQ(state->next.repairs, std::vector{Remedy::purge_caches});
  EXPECT_EQ(state->current.kill->cause, Cause::nan);
  EXPECT_EQ(state->history.faults.at(0).cause, Cause::unknown);
}

TEST(StateJson, GarbageIsRefusedWithItsReason) {
  EXPECT_FALSE(state_from_json(json::array()).has_value());
  auto unknown = state_from_json(json::object{{"stage", "flying"}, {"wanted", true}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().what.find("flying"), std::string::npos);
}

}  // namespace
}  // namespace trainward::core
