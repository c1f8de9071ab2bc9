#include "supervisor/ctl/card_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "common/os/json_file.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;
using checkpoint::huggingface::ModelCardFacts;

constexpr int points_of_a_curve = 1000;
constexpr std::size_t max_worker_config = 1U << 20U;
constexpr std::array<std::string_view, 9> data_keys{
    "data",          "data_format",        "data_form",      "validation_data", "base_model",
    "prompt_format", "template_variables", "column_mapping", "tokenizer"};

struct OnRecord {
  std::string program;
  std::int64_t step = 0;
};

// The row of this folder; an empty program: not on record.
OnRecord find_on_record(const store::Store& store, const fs::path& checkpoint) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(checkpoint, error);
  const auto rows = store.checkpoints_json("");
  if (!rows) return {};
  for (const json::value& value : *rows) {
    const json::object& row = value.get_object();
    const fs::path path = string_or(row, "path", "");
    if (path != checkpoint && fs::weakly_canonical(path, error) != whole) continue;
    return {string_or(row, "program", ""), int_or(row, "step", 0)};
  }
  return {};
}

std::vector<ModelCardFacts::Point> points_of(const Result<json::array>& rows, std::int64_t step) {
  std::vector<ModelCardFacts::Point> points;
  if (!rows) return points;
  for (const json::value& value : *rows) {
    const json::object& row = value.get_object();
    const auto loss = get_number(row, "loss");
    if (loss && int_or(row, "step", 0) <= step) points.push_back({int_or(row, "step", 0), *loss});
  }
  return points;
}

void add_report(ModelCardFacts& facts, const json::object& report) {
  facts.attempts = int_or(report, "attempts", 0);
  facts.training_seconds = number_or(report, "effective_seconds", 0);
  const auto causes = get_array(report, "causes");
  if (!causes) return;
  for (const json::value& value : **causes) {
    const json::object& row = value.get_object();
    facts.causes.emplace_back(string_or(row, "cause", "-"), int_or(row, "attempts", 0));
  }
}

// As people write it: 0.002, a.jsonl, b.jsonl.
std::string text_of(const json::value& value) {
  if (value.is_string()) return std::string(view(value.get_string()));
  if (value.is_double()) return fmt::format("{}", value.get_double());
  if (!value.is_array()) return json::serialize(value);
  std::string text;
  for (const json::value& item : value.get_array()) {
    if (!text.empty()) text += ", ";
    text += text_of(item);
  }
  return text;
}

// Of a model from a folder these two are the table's defaults, which nobody asked.
bool says_nothing(std::string_view name, std::string_view text) {
  return text.empty() || name == "model" || (name == "tokenizer" && text == "byte");
}

// Sections of the worker's configuration, their members as rows.
void add_settings(ModelCardFacts& facts, const json::object& section) {
  for (const auto& [key, value] : section) {
    const std::string name(view(key));
    if (value.is_null() || name == "logging_config") continue;
    if (value.is_object() && name.ends_with("_config")) {
      add_settings(facts, value.get_object());
      continue;
    }
    const std::string text = text_of(value);
    if (says_nothing(name, text)) continue;
    const bool is_data = std::find(data_keys.begin(), data_keys.end(), name) != data_keys.end();
    (is_data ? facts.data : facts.settings).emplace_back(name, text);
  }
}

void add_worker_config(ModelCardFacts& facts, const fs::path& attempts) {
  const auto folders = containment::attempt_folders(attempts);
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    const auto config = read_json_file(folder->folder / "worker.json", max_worker_config);
    if (!config || !config->is_object()) continue;
    return add_settings(facts, config->get_object());
  }
}

}  // namespace

ModelCardFacts card_facts(const Context& context, const fs::path& checkpoint) {
  ModelCardFacts facts;
  const auto store = store::Store::open_read_only(context.settings.database());
  if (!store) return facts;
  const OnRecord known = find_on_record(*store, checkpoint);
  if (known.program.empty()) return facts;
  if (const auto report = store->report_json(known.program)) add_report(facts, *report);
  facts.losses =
      points_of(store->losses_json(known.program, known.step, points_of_a_curve), known.step);
  facts.evaluations = points_of(store->evaluations_json(known.program), known.step);
  add_worker_config(facts, context.settings.state_dir / "runs" / known.program / "attempts");
  return facts;
}

}  // namespace trainward::ctl
