#include <fmt/format.h>

#include "common/text.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

std::string_view in_plain_words(std::string_view crash_class) {
  if (crash_class == "benign") return "nothing here says that it failed";
  if (crash_class == "disk") return "a disk is full, damaged or gone";
  if (crash_class == "firmware") return "the firmware or its driver is old, wrong or did not start";
  if (crash_class == "device_busy") return "another process holds the device";
  if (crash_class == "ethernet") return "a link between the chips does not work";
  if (crash_class == "device_lost") return "the device is gone, broken, or does not answer";
  if (crash_class == "hang") return "it stopped moving, and something noticed";
  if (crash_class == "cache_corrupt") return "a cache of compiled programs is damaged";
  if (crash_class == "device_oom") return "the device's memory is full";
  if (crash_class == "host_oom") return "the host's memory is full";
  if (crash_class == "config") return "the program or its set-up is wrong; only a change helps";
  if (crash_class == "network") return "the network or a service behind it failed";
  if (crash_class == "data") return "data or a checkpoint is damaged or missing";
  if (crash_class == "nan") return "the numbers are no numbers any more";
  return "it failed, and the log does not say why";
}

std::string_view in_plain_words_remedy(std::string_view remedy) {
  if (remedy == "retry") return "start again from the newest checkpoint";
  if (remedy == "back_off") return "wait longer and longer between attempts";
  if (remedy == "reset_board") return "reset the board, look at it again, start again";
  if (remedy == "power_cycle") return "take the power away";
  if (remedy == "purge_cache") return "delete the cache of compiled kernels";
  if (remedy == "recompile") return "do not use stored programs on this platform";
  if (remedy == "shrink_plan") return "less memory per step";
  if (remedy == "free_space") return "delete old checkpoints and caches";
  if (remedy == "release_device") return "wait for, or end, the process that holds the device";
  if (remedy == "older_checkpoint") return "go back further than the newest checkpoint";
  if (remedy == "fetch_again") return "get the data anew";
  if (remedy == "fix_program") return "change the program";
  if (remedy == "operator") return "a person changes the set-up";
  if (remedy == "replace_host") return "another host";
  return "nothing to do";
}

std::string_view in_plain_words_retry(std::string_view transient) {
  if (transient == "yes") return "yes, the same work may simply be tried again";
  if (transient == "no") return "no, the same work fails again until something changes";
  return "maybe";
}

// "line 12", or where evidence comes from that is no line.
std::string place_of(const json::object& row) {
  const std::int64_t line = int_or(row, "line_number", 0);
  return line > 0 ? "line " + grouped(line) : clean(string_or(row, "rule", "-"));
}

std::string others(const json::array& rows, std::size_t from, const Style& style) {
  Table table({{"", Align::right}, {""}, {""}, {"", Align::right}, {""}});
  for (std::size_t i = from; i < rows.size(); ++i) {
    if (!rows[i].is_object()) continue;
    const json::object& row = rows[i].get_object();
    const std::int64_t count = int_or(row, "count", 1);
    const bool overcome = bool_or(row, "overcome", false);
    table.add({Cell(fmt::format("{}", int_or(row, "weight", 0))), Cell(string_or(row, "class", "")),
               Cell(place_of(row)), Cell(count > 1 ? fmt::format("{}x", grouped(count)) : ""),
               Cell((overcome ? "(training went on) " : "") + string_or(row, "line", ""))});
  }
  return table.text(style, "  ");
}

}  // namespace

std::string format_classified(const json::object& document, const Style& style) {
  const std::string crash_class = clean(string_or(document, "class", "unknown"));
  std::string text = coloured(fmt::format("{}: {}", crash_class, in_plain_words(crash_class)),
                              Colour::bold, style);
  text += '\n';
  const auto evidence = get_array(document, "evidence");
  const bool failed = bool_or(document, "failed", false);
  if (failed) {
    const std::string remedy = clean(string_or(document, "remedy", ""));
    const std::string retry = clean(string_or(document, "transient", ""));
    text += fmt::format("  remedy  {}: {}\n", remedy, in_plain_words_remedy(remedy));
    text += fmt::format("  retry   {}\n", in_plain_words_retry(retry));
    text += fmt::format("  advice  {}\n", clean(string_or(document, "advice", "")));
    if (evidence && !(*evidence)->empty() && (**evidence)[0].is_object()) {
      const json::object& first = (**evidence)[0].get_object();
      text += fmt::format("  rule    {}\n", clean(string_or(first, "rule", "-")));
      text += fmt::format("  {}: {}\n", place_of(first), clean(string_or(first, "line", "")));
    }
  } else if (const std::string line = clean(string_or(document, "line", "")); !line.empty()) {
    text += fmt::format("  a line that only looks bad: {}\n", line);
  }
  const std::size_t shown = failed ? 1 : 0;
  if (evidence && (*evidence)->size() > shown) {
    text += failed ? "\nFurther evidence, strongest first:\n" : "\nWhat came up on the way:\n";
    text += others(**evidence, shown, style);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

}  // namespace trainward::ctl
