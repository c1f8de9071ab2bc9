#include "supervisor/ctl/cached_programs.hpp"

#include "common/base/text.hpp"
#include "common/base/time.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {

namespace fs = std::filesystem;

int cache_failed(const Context& context, const Error& error) {
  return finish(context, {exit_status::failed, error});
}

Result<std::optional<ProgramCache>> open_cache(const Context& context,
                                               const std::string& named_folder) {
  const bool named = !named_folder.empty();
  const fs::path folder = named ? named_folder : default_path(context);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    const bool missing = !fs::exists(fs::symlink_status(folder, error));
    if (missing && !named) return std::nullopt;
    return fail(ErrorKind::usage, missing ? "no such folder" : "is no folder", folder.string());
  }
  auto cache = ProgramCache::open(folder, ProgramCache::no_limit);
  if (!cache) return propagate(cache);
  return std::optional(std::move(*cache));
}

json::object json_of_cached(const ProgramEntry& entry) {
  return {{"key", entry.key},
          {"name", entry.info.name},
          {"platform", entry.info.platform},
          {"plugin", entry.info.plugin},
          {"bytes", entry.bytes},
          {"made_at", entry.made_ms > 0 ? json::value(iso8601(entry.made_ms)) : json::value()},
          {"used_at", iso8601(entry.used_ms)},
          {"problem", entry.problem}};
}

json::array rows_of(const std::vector<ProgramEntry>& entries) {
  json::array rows;
  for (const ProgramEntry& entry : entries) rows.push_back(json_of_cached(entry));
  return rows;
}

std::string label_of(const ProgramEntry& entry) {
  const std::string key = entry.key.substr(0, 12);
  return entry.info.name.empty() ? key : clean(entry.info.name) + " " + key;
}

int tell_empty(const Context& context, json::object document) {
  if (context.settings.json) {
    context.print_json(std::move(document));
  } else {
    context.terminal.out << "Nothing is cached\n";
  }
  return exit_status::ok;
}

std::string default_path(const Context& context) {
  return (context.settings.state_dir / "cache" / "programs").string();
}

void add_cache_folder(const Verb& verb, std::string& folder) {
  verb.option("--dir", folder, "the cache (STATE_DIR/cache/programs)");
}

}  // namespace trainward::ctl
