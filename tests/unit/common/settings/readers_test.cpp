// What the YAML reader takes, the worker takes, and the other way round: a run must not end because
// `config check` promised what the worker then refuses.
#include <cmath>

#include "common/settings/worker_settings.hpp"
#include "fixture.hpp"
#include "trainer/loop/setup/worker_config.hpp"

namespace trainward::settings {
namespace {

// A value of one setting, as both readers have it.
struct Value {
  std::string yaml;
  std::string json;
  bool good;

  Value(std::string text, bool is_good) : yaml(text), json(std::move(text)), good(is_good) {}
  Value(std::string of_yaml, std::string of_json, bool is_good)
      : yaml(std::move(of_yaml)), json(std::move(of_json)), good(is_good) {}
};

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

// The ends of each type's range: just inside, the end itself, just outside.
struct Ends {
  std::vector<Value> operator()(const Whole& of) const {
    return whole(of.range, [](auto number) { return Value(fmt::to_string(number), true); });
  }
  std::vector<Value> operator()(const Size& of) const {
    constexpr std::int64_t kib = 1024;
    return whole({of.range.min / kib, of.range.max / kib}, [](auto number) {
      return Value(fmt::format("{}KiB", number), fmt::to_string(number * 1024), true);
    });
  }
  std::vector<Value> operator()(const Real& of) const {
    const auto [min, max, above_min, below_max] = of.range;
    // Not the very next number: JSON is read to the last bit but one.
    const auto beside = [](double end, double way) {
      return end + way * (end == 0 ? 1e-12 : std::abs(end) * 1e-12);
    };
    const auto value = [](double number, bool good) {
      return Value(fmt::format("{}", number), good);
    };
    return {value(beside(min, -1), false), value(min, !above_min), value(beside(min, 1), true),
            value(beside(max, -1), true),  value(max, !below_max), value(beside(max, 1), false),
            value(-1, min <= -1),          value(max * 2, false)};
  }
  std::vector<Value> operator()(const Flag&) const {
    return {{"true", true}, {"false", true}, {"1", false}, {quoted("true"), false}};
  }
  std::vector<Value> operator()(const Word& of) const {
    std::vector<Value> all{{quoted("neither"), false}, {quoted(""), false}, {"3", false}};
    for (const std::string_view word : of.words) all.emplace_back(quoted(word), true);
    return all;
  }
  std::vector<Value> operator()(const Choice& of) const {
    std::vector<Value> all{{quoted("neither"), false}, {quoted(""), false}, {"3", false}};
    for (const std::string_view word : of.words) all.emplace_back(quoted(word), true);
    return all;
  }
  std::vector<Value> operator()(const Texts& of) const {
    const bool may_be_none = of.at.of(WorkerSettings{}).empty();
    std::vector<Value> all{
        {"[]", may_be_none}, {R"([""])", false}, {R"([["a"]])", false}, {"{}", false}};
    all.emplace_back(R"(["neither"])", of.words.empty());
    if (!of.alone.empty()) {
      all.emplace_back(fmt::format(R"(["{}"])", of.alone), true);
      all.emplace_back(fmt::format(R"(["{}", "{}"])", of.words[0], of.alone), false);
    }
    for (const std::string_view word : of.words)
      all.emplace_back(fmt::format(R"(["{}"])", word), true);
    std::string many = "[\"a\"";
    for (std::size_t i = 0; i < of.most; ++i) many += ", \"a\"";
    all.emplace_back(many + "]", false);
    return all;
  }
  std::vector<Value> operator()(const Names& of) const {
    return {{"{}", true},
            {fmt::format(R"({{"{}": "a"}})", of.names[0]), true},
            {fmt::format(R"({{"{}": 3}})", of.names[0]), false},
            {R"({"neither": "a"})", false},
            {"[]", false}};
  }
  std::vector<Value> operator()(const Variables& of) const {
    std::vector<Value> all{{"{}", true},
                           {R"({"enable_thinking": false, "date_string": "26 Jul 2024"})", true},
                           {R"({"_a1": 1.5, "b": 3})", true},
                           {R"({"a": [1]})", false},
                           {R"({"a": {"b": 1}})", false},
                           {R"({"a": null})", false},
                           {R"({"two words": 1})", false},
                           {R"({"1a": 1})", false},
                           {R"({"": 1})", false},
                           {R"({"messages": "x"})", false},
                           {R"({"eos_token": "x"})", false},
                           {"[]", false}};
    std::string many;
    for (std::size_t i = 0; i < of.most; ++i) many += fmt::format("\"a{}\": {}, ", i, i);
    all.emplace_back("{" + many.substr(0, many.size() - 2) + "}", true);
    all.emplace_back("{" + many + "\"b\": 1}", false);
    return all;
  }
  std::vector<Value> operator()(const Place& of) const {
    return {{quoted(of.folder ? "/tmp" : "/etc/passwd"), true}, {"[]", false}, {"{}", false}};
  }
  std::vector<Value> operator()(const Text&) const {
    return {{quoted("a"), true}, {quoted(""), true}, {"3", false}, {"true", false}, {"[]", false}};
  }
  std::vector<Value> operator()(const Path& of) const {
    return {{quoted(of.word), true}, {quoted("/etc/passwd"), true}, {"[]", false}};
  }
  std::vector<Value> operator()(const Paths& of) const {
    // One path without brackets is a list of one, in YAML alone.
    return {{"[]", !of.needed}, {R"(["/tmp"])", true}, {R"(["/tmp", []])", false}};
  }
  std::vector<Value> operator()(const Mesh& of) const {
    return {{"[1, 0]", false},
            {"[1, 1]", true},
            {fmt::format("[1, {}]", of.most), true},
            {"[2, 2]", true},
            {"[2, 512]", true},
            {"[2, 513]", false},
            {"[513, 2]", false},
            {"[4294967296, 4294967296]", false},
            {"[1]", false},
            {fmt::format("[1, {}]", of.most + 1), false},
            {"2", false},
            {"[1, 2, 1]", false}};
  }
  std::vector<Value> operator()(const Options&) const {
    return {{R"({"a": 1})", true}, {"{}", true}, {R"({"a": {"b": 1}})", false}, {"[]", false}};
  }

 private:
  template <typename Make>
  static std::vector<Value> whole(const IntegerRange& range, Make make) {
    // Unsigned, so that there is one after the largest.
    std::vector<Value> all{make(range.min - 1), make(range.min),
                           make(range.min + 1), make(range.max - 1),
                           make(range.max),     make(static_cast<std::uint64_t>(range.max) + 1)};
    all.front().good = all.back().good = false;
    return all;
  }
};

// What the key needs beside it in its own map.
std::string needed_beside(const Setting& setting, const std::string& value) {
  if (setting.key == "steps") return R"(, "num_epochs": 1)";
  if (setting.section == rope_scaling && setting.key == "type" && value != quoted("none")) {
    return R"(, "factor": 8)";
  }
  if (setting.section == rope_scaling && setting.key == "factor" && value != "0") {
    return R"(, "type": "linear")";
  }
  if (setting.section != llama) return "";
  std::string text;
  for (const std::string_view key : {"hidden", "layers", "heads"}) {
    // As many as there are groups of them.
    const bool groups = key == "heads" && setting.key == "kv_heads" && value != "0";
    if (key != setting.key) text += fmt::format(", \"{}\": {}", key, groups ? value : "1");
  }
  return setting.key.ends_with("heads") ? text + R"(, "head_dim": 64)" : text;
}

// The setting with whatever else it needs.
std::string in_section(const Setting& setting, const std::string& value) {
  const bool of_device = setting.section == device;
  std::string members = fmt::format("\"{}\": {}", setting.key, value);
  members += needed_beside(setting, value);
  for (const Map& map : maps) {
    if (map.section != setting.section) continue;
    members = fmt::format("\"{}\": {{{}}}", map.key(), members);
    if (map.section == rope_scaling) {
      members = fmt::format(R"("llama": {{"hidden": 1, "layers": 1, "heads": 1, {}}})", members);
    }
    if (map.section == lora) members += R"(, "base_model": "/tmp")";
    return fmt::format(R"({{"training_config": {{{}, "data": ["/tmp"]}}}})", members);
  }
  if (of_device && setting.key != "plugin") members += R"(, "plugin": "sim_n300")";
  if (setting.key == "mesh_shape") members += R"(, "enable_ddp": true)";
  if (setting.key == "enable_tp") {
    members += R"(, "mesh_shape": [1, 2], "enable_ddp": true)";
  }
  if (setting.section == training && setting.key != "data") members += R"(, "data": ["/tmp"])";
  std::string text = fmt::format("\"{}\": {{{}}}", setting.section, members);
  if (of_device) text += R"(, "training_config": {"batch_size": 1024, "data": ["/tmp"]})";
  if (setting.section == logging) text += R"(, "training_config": {"data": ["/tmp"]})";
  return "{" + text + "}";
}

// What is wrong with it, or nothing.
std::string worker_says(const json::value& config) {
  const auto read = trainer::read_worker_config(config.as_object());
  if (!read) return read.error().message();
  // The model has a look of its own.
  const auto fits = check_spec(read->training);
  return fits ? "" : fits.error().message();
}

class Readers : public config::ConfigTest {};

TEST_F(Readers, AgreeAtTheEndsOfEveryRange) {
  for (const Setting& setting : worker_settings) {
    for (const Value& value : std::visit(Ends{}, setting.type)) {
      const std::string text = in_section(setting, value.json);
      const auto parsed = parse_json(text, "test");
      ASSERT_TRUE(parsed) << text;
      const std::string worker = worker_says(*parsed);
      EXPECT_EQ(worker.empty(), value.good) << text << "\n" << worker;

      const std::string yaml = "programs: {a: " + in_section(setting, value.yaml) + "}\n";
      const auto loaded = load_text(yaml);
      EXPECT_EQ(loaded.has_value(), value.good)
          << yaml << (loaded ? "" : loaded.error().front().text());
      if (!loaded) continue;
      const auto given = parse_json(json::serialize(loaded->programs.at(0).worker), "worker.json");
      ASSERT_TRUE(given);
      EXPECT_EQ(worker_says(*given), "") << yaml;
    }
  }
}

TEST_F(Readers, VariablesAreForAModelsOwnTemplate) {
  for (const std::string_view format : words::prompt_formats) {
    const bool good = format == "auto" || format == "template";
    const std::string text =
        fmt::format(R"({{"training_config": {{"data": ["/tmp"], "prompt_format": "{}", )"
                    R"("template_variables": {{"b": true, "a": "x"}}}}}})",
                    format);
    EXPECT_EQ(worker_says(*parse_json(text, "test")).empty(), good) << text;
    const auto loaded = load_text("programs: {a: " + text + "}\n");
    ASSERT_EQ(loaded.has_value(), good) << text;
    if (!good) {
      EXPECT_NE(loaded.error().front().text().find("template_variables"), std::string::npos);
      continue;
    }
    const json::object& training = loaded->programs.at(0).worker.at("training_config").get_object();
    EXPECT_EQ(json::serialize(training.at("template_variables")), R"({"a":"x","b":true})");
  }
}

TEST_F(Readers, TheSameDefaults) {
  const auto loaded = load_text("programs: {a: {}}\n");
  ASSERT_TRUE(loaded);
  const auto of_yaml = trainer::read_worker_config(loaded->programs.at(0).worker);
  const auto by_hand = trainer::read_worker_config(
      {{"training_config", json::object{{"data", json::array{"/usr/share/common-licenses"}}}}});
  ASSERT_TRUE(of_yaml && by_hand);
  EXPECT_EQ(of_yaml->digest, by_hand->digest);
}

}  // namespace
}  // namespace trainward::settings
