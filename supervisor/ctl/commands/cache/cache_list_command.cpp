// cache list: what is cached, and what is known of plugins.
#include "common/base/text.hpp"
#include "common/program_cache/program_cache.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/cached_programs.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {
namespace {

const json::array& array_or_empty(const json::object& object, std::string_view key) {
  static const json::array empty;
  const json::value* value = object.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_array() ? value->get_array() : empty;
}

// Enough of it to tell keys apart.
std::string short_key(const json::object& row) {
  return or_dash(string_or(row, "key", "").substr(0, 12));
}

std::string format_cache(const json::object& cache, std::int64_t now_ms, const Style& style) {
  const json::array& programs = array_or_empty(cache, "programs");
  Table table({{"PROGRAM"},
               {"SIZE", Align::right},
               {"LAST USED"},
               {"PLATFORM"},
               {"PLUGIN"},
               {"KEY"},
               {"STATE"}});
  for (const json::value& value : programs) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const auto used = wall_ms_of(string_or(row, "used_at", ""));
    const std::string problem = string_or(row, "problem", "");
    table.add({or_dash(string_or(row, "name", "")), human_bytes(size_or(row, "bytes")),
               used ? age(now_ms - *used) : "-", or_dash(string_or(row, "platform", "")),
               or_dash(string_or(row, "plugin", "")), short_key(row),
               Cell(problem.empty() ? "-" : "DAMAGED: " + problem,
                    problem.empty() ? Colour::plain : Colour::red)});
  }
  std::string text = programs.empty() ? "" : table.text(style) + "\n";
  for (const json::value& value : array_or_empty(cache, "plugins")) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    text += fmt::format("plugin {} ({}): {}\n", clean(or_dash(string_or(row, "about", ""))),
                        clean(short_key(row)),
                        bool_or(row, "loads", false)
                            ? "loads what it has compiled"
                            : "cannot load what it has compiled, so nothing of it is cached");
  }
  if (programs.empty()) return text + "Nothing is cached\n";
  return text + fmt::format(
                    "{}, {}, in {}\n", count(static_cast<std::int64_t>(programs.size()), "program"),
                    human_bytes(size_or(cache, "bytes")), clean(string_or(cache, "path", "-")));
}

int list_programs(const Context& context, const std::string& folder) {
  auto cache = open_cache(context, folder);
  if (!cache) return cache_failed(context, cache.error());
  json::object document{{"path", default_path(context)},
                        {"bytes", 0},
                        {"programs", json::array()},
                        {"plugins", json::array()}};
  if (*cache) {
    auto entries = (*cache)->list();
    if (!entries) return cache_failed(context, entries.error());
    auto plugins = (*cache)->plugins();
    if (!plugins) return cache_failed(context, plugins.error());
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
    context.terminal.out << format_cache(document, context.terminal.now.wall.ms, context.style());
  }
  return exit_status::ok;
}

}  // namespace

void add_cache_list(Cli& cli) {
  auto& folder = cli.keep<std::string>();
  const Verb verb = cli.verb("cache list", "what is cached, and what is known of plugins");
  add_cache_folder(verb, folder);
  cli.on(verb, folder, list_programs);
}

}  // namespace trainward::ctl
