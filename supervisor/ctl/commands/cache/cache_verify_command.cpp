// cache verify: every byte is read; what is damaged may be removed.
#include "common/program_cache/program_cache.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/cached_programs.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

struct VerifyRequest {
  std::string folder;
  bool repair = false;
};

// Why it could not be removed; empty when it is gone.
std::string remove_damaged(const ProgramCache& cache, const std::string& key) {
  auto held = cache.try_lock(key);
  if (!held) return held.error().message();
  if (!*held) return "somebody works with it";
  // Read once more: a worker may have replaced it by a good one since.
  auto found = cache.find(key);
  return found ? "" : found.error().message();
}

int verify_programs(const Context& context, const VerifyRequest& request) {
  auto cache = open_cache(context, request.folder);
  if (!cache) return cache_failed(context, cache.error());
  json::object document{{"path", default_path(context)}, {"programs", json::array()}};
  if (!*cache) return tell_empty(context, std::move(document));
  auto entries = (*cache)->verify();
  if (!entries) return cache_failed(context, entries.error());
  json::array rows;
  bool all_good = true;
  for (const ProgramEntry& entry : *entries) {
    const bool good = entry.problem.empty();
    std::string stays;
    if (!good && request.repair) stays = remove_damaged(**cache, entry.key);
    const bool removed = !good && request.repair && stays.empty();
    all_good = all_good && (good || removed);
    json::object row = json_of_cached(entry);
    row["ok"] = good;
    row["removed"] = removed;
    rows.push_back(std::move(row));
    if (context.settings.json) continue;
    context.terminal.out << label_of(entry) << ": "
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

}  // namespace

void add_cache_verify(Cli& cli) {
  auto& request = cli.keep<VerifyRequest>();
  const Verb verb = cli.verb("cache verify", "read every byte and compare checksums");
  add_cache_folder(verb, request.folder);
  verb.flag("--repair", request.repair, "remove the damaged ones");
  cli.on(verb, request, verify_programs);
}

}  // namespace trainward::ctl
