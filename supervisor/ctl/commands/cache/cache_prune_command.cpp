// cache prune, clear: removes compiled programs, some or all.
#include <limits>

#include "common/base/text.hpp"
#include "common/program_cache/program_cache.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/cached_programs.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

struct CachePruneRequest {
  std::string folder;
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::int64_t> older_than_ms;
};

int tell_removed(const Context& context, const ProgramCache& cache, const PrunedPrograms& done) {
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
    context.terminal.out << label_of(entry) << ": removed\n";
  }
  for (const ProgramEntry& entry : done.in_use) {
    context.terminal.out << label_of(entry) << ": stays, somebody works with it\n";
  }
  context.terminal.out << fmt::format(
      "{} removed ({}), {} left\n",
      count(static_cast<std::int64_t>(done.removed.size()), "program"), human_bytes(bytes),
      human_bytes(done.bytes_left));
  return exit_status::ok;
}

json::object nothing_removed(const Context& context) {
  return {{"path", default_path(context)},
          {"removed", json::array()},
          {"in_use", json::array()},
          {"bytes_left", 0}};
}

int prune_programs(const Context& context, const CachePruneRequest& request) {
  auto cache = open_cache(context, request.folder);
  if (!cache) return cache_failed(context, cache.error());
  if (!*cache) return tell_empty(context, nothing_removed(context));
  const std::int64_t unused_since = request.older_than_ms
                                        ? context.terminal.now.wall.ms - *request.older_than_ms
                                        : std::numeric_limits<std::int64_t>::min();
  auto done = (*cache)->prune(request.max_bytes.value_or(ProgramCache::no_limit), unused_since);
  if (!done) return cache_failed(context, done.error());
  return tell_removed(context, **cache, *done);
}

int clear_programs(const Context& context, const std::string& folder) {
  auto cache = open_cache(context, folder);
  if (!cache) return cache_failed(context, cache.error());
  if (!*cache) return tell_empty(context, nothing_removed(context));
  auto done = (*cache)->clear();
  if (!done) return cache_failed(context, done.error());
  return tell_removed(context, **cache, *done);
}

}  // namespace

void add_cache_prune(Cli& cli) {
  auto& request = cli.keep<CachePruneRequest>();
  const Verb prune = cli.verb("cache prune", "remove programs that were not used for long");
  add_cache_folder(prune, request.folder);
  prune.option("--max-bytes", request.max_bytes, "as much may stay, such as 2GB or 512MiB").size();
  const auto read_age = [&request](const std::string& text) {
    request.older_than_ms = yaml::parse_duration_ms(text);
    const bool is_age = request.older_than_ms && *request.older_than_ms >= 0;
    return is_age ? "" : "is a duration such as 12h or 30d";
  };
  prune.option_read_by("--older-than", read_age, "what was not used for so long, such as 30d");
  cli.on(prune, request, prune_programs, [&request] {
    const bool says_what = request.max_bytes || request.older_than_ms;
    return says_what ? "" : "--max-bytes or --older-than is required";
  });
  const Verb clear = cli.verb("cache clear", "remove everything, also what is known of plugins");
  add_cache_folder(clear, request.folder);
  cli.on(clear, request.folder, clear_programs);
}

}  // namespace trainward::ctl
