#include "supervisor/config/worker_sections.hpp"

#include <array>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "supervisor/config/device_section.hpp"

namespace trainward::config {
namespace {

// The presets of AGILLM-3. NAME_kx has attention rank k * head width. The trainer has the shapes;
// it is not linked here so that the supervisor stays free of its libraries.
constexpr std::array<std::string_view, 2> schedules{"constant", "cosine"};
constexpr std::array<std::string_view, 2> precisions{"f32", "bf16"};
constexpr std::array<std::string_view, 25> models{
    "femto_1x", "femto_12x", "femto_24x", "pico_1x",  "pico_3x",   "pico_6x",   "pico_12x",
    "pico_24x", "pico_48x",  "nano_1x",   "nano_3x",  "nano_6x",   "nano_12x",  "nano_24x",
    "nano_48x", "nano_96x",  "micro_3x",  "micro_6x", "micro_12x", "micro_24x", "small",
    "smallx2",  "base",      "base18",    "large"};

constexpr std::array<std::string_view, 4> data_formats{"auto", "text", "u16", "u32"};
constexpr std::int64_t largest_vocabulary = std::int64_t{1} << 22;
constexpr std::array<std::string_view, 3> sections{"training_config", "device_config",
                                                   "logging_config"};

struct Whole {
  std::int64_t fallback;
  yaml::IntegerRange range;
};
struct Real {
  double fallback;
  yaml::NumberRange range;
};
struct Flag {
  bool fallback;
};
struct Setting {
  std::string_view key;
  std::variant<Whole, Real, Flag> type;
};

constexpr std::int64_t billion = 1'000'000'000;
constexpr std::int64_t largest_seed = std::numeric_limits<std::int64_t>::max();

const std::array<Setting, 23> training_settings{{
    {"steps", Whole{300, {1, billion}}},
    {"batch_size", Whole{8, {1, 65'536}}},
    {"block_size", Whole{128, {2, 1'048'576}}},
    {"learning_rate", Real{3e-3, {.min = 0, .max = 10, .above_min = true}}},
    {"head_learning_rate", Real{3e-3, {.min = 0, .max = 10, .above_min = true}}},
    {"weight_decay", Real{0.01, {.min = 0, .max = 1}}},
    {"beta1", Real{0.9, {.min = 0, .max = 1, .below_max = true}}},
    {"beta2", Real{0.999, {.min = 0, .max = 1, .below_max = true}}},
    {"epsilon", Real{1e-8, {.min = 1e-30, .max = 1}}},
    {"gradient_clip", Real{1.0, {.min = 0, .max = 1e6}}},
    {"warmup_steps", Whole{0, {0, billion}}},
    {"final_learning_rate_share", Real{0.1, {.min = 0, .max = 1}}},
    {"accumulation", Whole{1, {1, 65'536}}},
    {"dropout", Real{0, {.min = 0, .max = 0.99}}},
    {"label_smoothing", Real{0, {.min = 0, .max = 0.99}}},
    {"tie_weights", Flag{false}},
    {"recompute", Flag{false}},
    {"seed", Whole{1234, {0, largest_seed}}},
    {"evaluate_every", Whole{0, {0, billion}}},
    {"evaluation_blocks", Whole{32, {1, 1'000'000}}},
    {"checkpoint_every", Whole{10, {1, billion}}},
    {"checkpoint_async", Flag{true}},
    {"checkpoint_shard_mib", Whole{0, {0, 1'048'576}}},
}};

void read_setting(yaml::MapReader& reader, const Setting& setting, json::object& out) {
  const json::string_view key(setting.key.data(), setting.key.size());
  if (const auto* whole = std::get_if<Whole>(&setting.type)) {
    out[key] = reader.integer(setting.key, whole->fallback, whole->range);
  } else if (const auto* real = std::get_if<Real>(&setting.type)) {
    out[key] = reader.number(setting.key, real->fallback, real->range);
  } else {
    out[key] = reader.boolean(setting.key, std::get<Flag>(setting.type).fallback);
  }
}

// Text files or folders of them; each must exist now, not an hour later in the worker.
json::array read_data(yaml::MapReader& reader, const Folders& folders) {
  json::array data{"/usr/share/common-licenses"};
  const yaml::Node* list = reader.take("data");
  if (list == nullptr) return data;
  if (list->kind != yaml::Node::Kind::list || list->items.empty()) {
    reader.report(
        "data", *list,
        "expected a list of files or folders, found " +
            (list->items.empty() && list->kind == yaml::Node::Kind::list ? "an empty list"
                                                                         : describe(*list)));
    return data;
  }
  data.clear();
  for (const yaml::Node& item : list->items) {
    if (item.kind == yaml::Node::Kind::refused) continue;
    if (item.kind != yaml::Node::Kind::scalar || item.text.empty()) {
      reader.report("data", item, "expected a file or folder, found " + describe(item));
      continue;
    }
    const auto path = folders.resolve(item);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      reader.report("data", item, "no such file or folder: " + path.string());
    }
    data.emplace_back(path.string());
  }
  return data;
}

// "byte", or a file that must exist now.
std::string read_tokenizer(yaml::MapReader& reader, const Folders& folders) {
  const yaml::Node* node = reader.take("tokenizer");
  if (node == nullptr) return "byte";
  if (node->kind != yaml::Node::Kind::scalar || node->text.empty()) {
    reader.report("tokenizer", *node,
                  "expected 'byte' or a tokenizer.json, found " + describe(*node));
    return "byte";
  }
  if (node->text == "byte") return node->text;
  const auto path = folders.resolve(*node);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    reader.report("tokenizer", *node, "neither 'byte' nor a file: " + path.string());
  }
  return path.string();
}

json::object read_training(const yaml::Node& node, const std::string& path,
                           std::vector<yaml::Problem>& problems, const Folders& folders) {
  yaml::MapReader reader(node, path, problems);
  json::object out;
  out["model"] = reader.one_of("model", models, "micro_3x");
  for (const Setting& setting : training_settings) read_setting(reader, setting, out);
  out["schedule"] = reader.one_of("schedule", schedules, "constant");
  out["precision"] = reader.one_of("precision", precisions, "f32");
  out["data"] = read_data(reader, folders);
  out["data_format"] = reader.one_of("data_format", data_formats, "auto");
  out["tokenizer"] = read_tokenizer(reader, folders);
  out["end_of_text"] = reader.text("end_of_text", "");
  out["vocabulary"] = reader.integer("vocabulary", 0, {0, largest_vocabulary});
  reader.finish();
  return out;
}

json::object read_logging(const yaml::Node& node, const std::string& path,
                          std::vector<yaml::Problem>& problems) {
  yaml::MapReader reader(node, path, problems);
  json::object out;
  out["log_every"] = reader.integer("log_every", 1, {1, 1'000'000});
  reader.finish();
  return out;
}

// Told here, since the worker would find out an hour later.
void check_split(yaml::MapReader& program, const yaml::Node& device, const json::object& worker) {
  const json::object& training = worker.at("training_config").get_object();
  const std::int64_t ranks = worker.at("device_config").at("mesh_shape").get_array()[1].get_int64();
  const std::int64_t batch = training.at("batch_size").get_int64();
  if (batch % ranks == 0 || training.at("accumulation").get_int64() % ranks == 0) return;
  const bool of_plugin = worker.at("device_config").at("device").get_string() == "pjrt";
  program.report("device_config.mesh_shape", device,
                 fmt::format("{} {} cannot share batches of {} sequences; make batch_size a "
                             "multiple of {}",
                             ranks, of_plugin ? "devices" : "processes", batch, ranks));
}

}  // namespace

WorkerSections read_worker_sections(yaml::MapReader& program, const Folders& folders) {
  yaml::Node nothing;
  nothing.kind = yaml::Node::Kind::map;
  const auto section = [&](std::string_view key) -> const yaml::Node& {
    const yaml::Node* node = program.take(key);
    return node == nullptr ? nothing : *node;
  };
  auto& problems = program.problems();
  WorkerSections out;
  out.worker["training_config"] = read_training(
      section("training_config"), program.path_of("training_config"), problems, folders);
  out.worker["device_config"] = read_device(
      section("device_config"), program.path_of("device_config"), problems, folders, out.host);
  out.worker["logging_config"] =
      read_logging(section("logging_config"), program.path_of("logging_config"), problems);
  check_split(program, section("device_config"), out.worker);
  return out;
}

void refuse_worker_sections(yaml::MapReader& program) {
  for (const std::string_view key : sections) {
    const yaml::Node* node = program.node().find(key);
    program.take(key);
    if (node == nullptr) continue;
    program.report(key, *node,
                   "is for our own worker and cannot stand beside 'command'; remove one of them");
  }
}

}  // namespace trainward::config
