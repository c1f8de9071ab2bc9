#include <algorithm>
#include <array>

#include "common/base/json/json.hpp"
#include "common/base/json/json_text.hpp"
#include "common/os/file.hpp"
#include "common/program_cache/cache_names.hpp"
#include "common/program_cache/exclusive_file.hpp"
#include "common/program_cache/program_cache.hpp"

namespace trainward {
namespace {

constexpr std::size_t max_about_bytes = 1000;
constexpr std::size_t max_fact_bytes = 16U << 10U;

// Nothing when the file is not there or makes no sense: then the plugin is tried again.
std::optional<PluginFact> read_fact(const std::filesystem::path& folder, const std::string& key) {
  auto text =
      read_file(program_cache::file_of(folder, key, program_cache::plugin_suffix), max_fact_bytes);
  if (!text) return std::nullopt;
  auto parsed = parse_json(*text, key);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  auto loads = get_bool(parsed->get_object(), "loads");
  if (!loads) return std::nullopt;
  return PluginFact{key, *loads, string_or(parsed->get_object(), "about", "")};
}

}  // namespace

std::optional<bool> ProgramCache::loads(const std::string& plugin_key) const {
  if (!program_cache::is_key(plugin_key)) return std::nullopt;
  const auto fact = read_fact(folder_, plugin_key);
  return fact ? std::optional(fact->loads) : std::nullopt;
}

Status ProgramCache::remember_loads(const std::string& plugin_key, bool loads,
                                    std::string_view about) const {
  if (auto ok = program_cache::require_key(plugin_key); !ok) return ok;
  if (this->loads(plugin_key) == loads) return {};
  const std::string text =
      JsonText().add("loads", loads).add("about", about.substr(0, max_about_bytes)).object() + "\n";
  return program_cache::write_whole_file(folder_,
                                         plugin_key + std::string(program_cache::plugin_suffix),
                                         std::array{std::string_view(text)});
}

Result<std::vector<PluginFact>> ProgramCache::plugins() const {
  std::vector<PluginFact> facts;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string key(program_cache::key_of(name, program_cache::plugin_suffix));
    if (key.empty()) continue;
    if (auto fact = read_fact(folder_, key)) facts.push_back(std::move(*fact));
  }
  if (error) return fail_errno(error.value(), "read the folder", folder_.string());
  std::sort(facts.begin(), facts.end(),
            [](const PluginFact& a, const PluginFact& b) { return a.key < b.key; });
  return facts;
}

}  // namespace trainward
