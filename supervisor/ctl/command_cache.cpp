// cache list, verify, prune, clear: the compiled programs that attempts share. No daemon is needed;
// one may be at work meanwhile, and what its workers hold is left alone.
#include <limits>

#include "common/clock.hpp"
#include "common/programs/program_cache.hpp"
#include "common/text.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

int failed(const Context& context, const Error& error) {
  return finish(context, {exit_status::failed, error});
}

// Nothing when nobody has compiled anything yet: looking makes no folder.
Result<std::optional<ProgramCache>> open_cache(const Context& context,
                                               const CacheRequest& request) {
  const bool named = !request.folder.empty();
  const fs::path folder =
      named ? fs::path(request.folder) : context.settings.state_dir / "cache" / "programs";
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

json::object json_of(const ProgramEntry& entry) {
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
  for (const ProgramEntry& entry : entries) rows.push_back(json_of(entry));
  return rows;
}

// "block_forward 3f2a9c01b2d4"
std::string label(const ProgramEntry& entry) {
  const std::string key = entry.key.substr(0, 12);
  return entry.info.name.empty() ? key : clean(entry.info.name) + " " + key;
}

// Why it could not be removed; empty when it is gone.
std::string remove_damaged(const ProgramCache& cache, const std::string& key) {
  auto held = cache.try_lock(key);
  if (!held) return held.error().message();
  if (!*held) return "somebody works with it";
  // Read once more: a worker may have replaced it by a good one since.
  auto found = cache.find(key);
  return found ? "" : found.error().message();
}

int tell(const Context& context, const ProgramCache& cache, const PrunedPrograms& done) {
  if (context.settings.json) {
    context.print_json({{"path", cache.folder().string()},
                        {"removed", rows_of(done.removed)},
                        {"in_use", rows_of(done.in_use)},
                        {"bytes_left", done.bytes_left}});
    return exit_status::ok;
  }
  std::uint64_t bytes = 0;
  for (const ProgramEntry& entry : done.removed) {
    bytes += entry.bytes;
    context.terminal.out << label(entry) << ": removed\n";
  }
  for (const ProgramEntry& entry : done.in_use) {
    context.terminal.out << label(entry) << ": stays, somebody works with it\n";
  }
  context.terminal.out << fmt::format(
      "{} removed ({}), {} left\n",
      count(static_cast<std::int64_t>(done.removed.size()), "program"), human_bytes(bytes),
      human_bytes(done.bytes_left));
  return exit_status::ok;
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

json::object nothing_removed(const Context& context) {
  return {{"path", default_path(context)},
          {"removed", json::array()},
          {"in_use", json::array()},
          {"bytes_left", 0}};
}

}  // namespace

int list_programs(const Context& context, const CacheRequest& request) {
  auto cache = open_cache(context, request);
  if (!cache) return failed(context, cache.error());
  json::object document{{"path", default_path(context)},
                        {"bytes", 0},
                        {"programs", json::array()},
                        {"plugins", json::array()}};
  if (*cache) {
    auto entries = (*cache)->list();
    if (!entries) return failed(context, entries.error());
    auto plugins = (*cache)->plugins();
    if (!plugins) return failed(context, plugins.error());
    std::uint64_t bytes = 0;
    for (const ProgramEntry& entry : *entries) bytes += entry.bytes;
    json::array facts;
    for (const PluginFact& fact : *plugins) {
      facts.push_back({{"key", fact.key}, {"loads", fact.loads}, {"about", fact.about}});
    }
    document = {{"path", (*cache)->folder().string()},
                {"bytes", bytes},
                {"programs", rows_of(*entries)},
                {"plugins", std::move(facts)}};
  }
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_cache(document, context.terminal.now.wall_ms,
                                         {context.terminal.colour, context.terminal.width});
  }
  return exit_status::ok;
}

int verify_programs(const Context& context, const CacheRequest& request) {
  auto cache = open_cache(context, request);
  if (!cache) return failed(context, cache.error());
  json::object document{{"path", default_path(context)}, {"programs", json::array()}};
  if (!*cache) return tell_empty(context, std::move(document));
  auto entries = (*cache)->verify();
  if (!entries) return failed(context, entries.error());
  json::array rows;
  bool all_good = true;
  for (const ProgramEntry& entry : *entries) {
    const bool good = entry.problem.empty();
    std::string stays;
    if (!good && request.repair) stays = remove_damaged(**cache, entry.key);
    const bool removed = !good && request.repair && stays.empty();
    all_good = all_good && (good || removed);
    json::object row = json_of(entry);
    row["ok"] = good;
    row["removed"] = removed;
    rows.push_back(std::move(row));
    if (context.settings.json) continue;
    context.terminal.out << label(entry) << ": "
                         << (good ? "ok" : "DAMAGED: " + clean(entry.problem))
                         << (removed ? "; removed" : "")
                         << (stays.empty() ? "" : "; stays: " + clean(stays)) << '\n';
  }
  document = {{"path", (*cache)->folder().string()}, {"programs", std::move(rows)}};
  if (context.settings.json) {
    context.print_json(document);
  } else if (entries->empty()) {
    context.terminal.out << "Nothing is cached\n";
  }
  return all_good ? exit_status::ok : exit_status::failed;
}

int prune_programs(const Context& context, const CacheRequest& request) {
  auto cache = open_cache(context, request);
  if (!cache) return failed(context, cache.error());
  if (!*cache) return tell_empty(context, nothing_removed(context));
  const std::int64_t unused_since = request.older_than_ms
                                        ? context.terminal.now.wall_ms - *request.older_than_ms
                                        : std::numeric_limits<std::int64_t>::min();
  auto done = (*cache)->prune(request.max_bytes.value_or(ProgramCache::no_limit), unused_since);
  if (!done) return failed(context, done.error());
  return tell(context, **cache, *done);
}

int clear_programs(const Context& context, const CacheRequest& request) {
  auto cache = open_cache(context, request);
  if (!cache) return failed(context, cache.error());
  if (!*cache) return tell_empty(context, nothing_removed(context));
  auto done = (*cache)->clear();
  if (!done) return failed(context, done.error());
  return tell(context, **cache, *done);
}

}  // namespace trainward::ctl
