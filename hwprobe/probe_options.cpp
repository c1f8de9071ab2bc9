#include "hwprobe/probe_options.hpp"

#include <CLI/CLI.hpp>

#include "hwprobe/watch/watch_stream.hpp"

namespace trainward::hwprobe {
namespace {

// What options contradict each other; empty: none. `source` may say which of two is meant.
std::string contradiction(const ProbeOptions& options, const std::string& source) {
  if (source == "described" && options.host.empty()) {
    return "--source described needs --host FILE";
  }
  if (source == "sysfs" && !options.host.empty()) {
    return "--host FILE goes with --source described";
  }
  const bool of_others =
      !options.replay.empty() || !options.host.empty() || !options.printed.empty();
  if (!options.record.empty() && of_others) return "--record FILE goes with a look at this host";
  if (!options.replay.empty() && !options.host.empty()) {
    return "--replay FILE and --host FILE cannot be had together";
  }
  if (!options.stream) return options.boards.empty() ? "" : "boards are named for --stream only";
  if (options.boards.empty()) return "--stream MS needs the boards it is to watch";
  const bool of_a_look = !options.record.empty() || !options.replay.empty() ||
                         !options.printed.empty() || !options.expected.empty() || options.deep ||
                         options.draw;
  return of_a_look ? "--stream MS goes with --root, --host and boards only" : "";
}

}  // namespace

ParsedOptions parse_options(std::span<const Accelerator> all, int argc, char** argv) {
  ProbeOptions options;
  std::string source;
  CLI::App app{"Looks at the accelerator boards of this host and says what state they are in."};
  app.add_option("--source", source, "sysfs (this host) or described (a file)")
      ->check(CLI::IsMember({"sysfs", "described"}));
  auto* host = app.add_option("--host", options.host, "a described host instead of this one");
  auto* root = app.add_option("--root", options.root, "folder that stands for / (sysfs)");
  app.add_option("--state", options.state, "folder of the probe's locks and memory");
  app.add_option("--record", options.record, "write everything that was read into this file");
  auto* replay =
      app.add_option("--replay", options.replay, "report on such a file instead of on this host");
  std::vector<CLI::Option*> printed;
  for (const Accelerator& one : all) {
    if (one.printed.option.empty()) continue;
    auto* file = app.add_option_function<std::string>(
        one.printed.option,
        [&options, name = one.printed.option](const std::string& text) {
          if (!text.empty()) options.printed[name] = text;
        },
        one.printed.help);
    file->excludes(host)->excludes(root)->excludes(replay)->excludes("--source");
    for (auto* other : printed) other->excludes(file);
    printed.push_back(file);
  }
  auto* simulator = app.add_option("--ttsim", options.simulator,
                                   "library of the simulator ttsim: its boards instead of these");
  for (auto* other : {host, root, replay}) simulator->excludes(other);
  for (auto* other : printed) simulator->excludes(other);
  simulator->excludes("--source");
  app.add_option("--expect", options.expected, "cluster descriptor of what the host should have");
  std::int64_t stream_ms = 0;
  auto* stream = app.add_option("--stream", stream_ms,
                                "print what BOARD measures, a line a board every so many ms")
                     ->check(CLI::Range(shortest_interval.count(), longest_interval.count()));
  app.add_option("BOARD", options.boards, "boards of --stream: PCI addresses");
  app.add_flag("--deep", options.deep, "also ask tt-smi about unused boards");
  app.add_flag("--draw", options.draw, "draw the chips and the links below the table");
  app.add_flag("--json", options.json, "print the report as one JSON object");
  app.footer("Exit status: 0 healthy, 1 some boards usable, 2 none, 3 could not tell.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {std::nullopt, app.exit(error), ""};  // --help
    return {std::nullopt, 0, error.what()};
  }
  if (stream->count() > 0) options.stream = std::chrono::milliseconds(stream_ms);
  std::string problem = contradiction(options, source);
  if (!problem.empty()) return {std::nullopt, 0, std::move(problem)};
  return {std::move(options), 0, ""};
}

}  // namespace trainward::hwprobe
