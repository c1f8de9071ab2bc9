#include "supervisor/record/metrics/shown_metrics.hpp"

#include <algorithm>

#include "common/base/json/json.hpp"
#include "common/os/folder.hpp"

namespace trainward::metrics {
namespace {

constexpr const char* file_name = "metrics.shown";
constexpr const char* temporary_name = ".metrics.shown.new";
constexpr std::size_t most_bytes = 16U << 20U;

Shown::Program program_in(const json::object& object) {
  Shown::Program out;
  out.began_ms = int_or(object, "began_ms", 0);
  out.tokens = int_or(object, "tokens", 0);
  const auto spans = get_array(object, "spans");
  if (!spans) return out;
  for (const json::value& value : **spans) {
    if (!value.is_object()) continue;
    const json::object& span = value.get_object();
    out.spans[{string_or(span, "phase", ""), string_or(span, "cause", "")}] =
        std::max<std::int64_t>(int_or(span, "ms", 0), 0);
  }
  return out;
}

json::object json_of(const Shown::Program& program) {
  json::array spans;
  for (const auto& [name, ms] : program.spans) {
    spans.push_back(json::object{{"phase", name.first}, {"cause", name.second}, {"ms", ms}});
  }
  return {{"began_ms", program.began_ms}, {"tokens", program.tokens}, {"spans", std::move(spans)}};
}

}  // namespace

Shown read_shown(const std::filesystem::path& state_folder) {
  Shown out;
  auto folder = Folder::open(state_folder);
  if (!folder) return out;
  auto text = folder->read(file_name, most_bytes);
  if (!text) return out;
  const auto parsed = parse_json(*text, file_name);
  if (!parsed || !parsed->is_object()) return out;
  const json::object& all = parsed->get_object();
  if (const auto programs = get_object(all, "programs")) {
    for (const auto& [name, value] : **programs) {
      if (value.is_object()) out.programs[std::string(name)] = program_in(value.get_object());
    }
  }
  out.boot = string_or(all, "boot", "");
  if (const auto host = get_object(all, "host")) {
    for (const auto& [name, value] : **host) {
      out.host[std::string(name)] = number_or(**host, name, 0);
    }
  }
  return out;
}

Status keep_shown(const std::filesystem::path& state_folder, const Shown& shown) {
  json::object programs;
  for (const auto& [name, program] : shown.programs) programs[name] = json_of(program);
  json::object host;
  for (const auto& [name, seconds] : shown.host) host[name] = seconds;
  auto folder = Folder::open(state_folder);
  if (!folder) return propagate(folder);
  const json::object all{
      {"programs", std::move(programs)}, {"boot", shown.boot}, {"host", std::move(host)}};
  return folder->write_durably(file_name, json::serialize(all) + "\n", 0640, temporary_name);
}

}  // namespace trainward::metrics
