// trainward-probe: one look at the hardware, as a table or as JSON.
// Exit status: 0 healthy, 1 some boards usable, 2 none, 3 could not tell.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>
#include <string>

#include "common/file.hpp"
#include "common/terminal/display_text.hpp"
#include "hwprobe/described.hpp"
#include "hwprobe/host_look.hpp"
#include "hwprobe/stages/recording.hpp"
#include "hwprobe/stages/state_folder.hpp"
#include "hwprobe/table.hpp"
#include "hwprobe/verdict.hpp"

namespace {

namespace probe = trainward::hwprobe;
using trainward::Result;
using trainward::Status;

struct Options {
  std::string source;
  std::string host;
  std::string root = "/";
  std::string state;
  std::string record;
  std::string replay;
  bool deep = false;
  bool json = false;
};

Result<probe::Report> replay(const Options& options) {
  auto text = trainward::read_file(options.replay, probe::max_recording_bytes);
  if (!text) return propagate(text);
  auto looks = probe::looks_from_text(*text);
  if (!looks) {
    looks.error().where = options.replay + ": " + looks.error().where;
    return propagate(looks);
  }
  return probe::report_of(*looks, probe::probe_stages({}), "replay");
}

Result<probe::Report> look_at_this_host(const Options& options) {
  probe::HostOptions host;
  host.root = options.root;
  host.deep = options.deep;
  if (options.state.empty()) {
    auto folder = probe::default_state_folder();
    if (!folder) return propagate(folder);
    host.state = std::move(*folder);
  } else {
    if (auto made = trainward::make_folders(options.state); !made) return propagate(made);
    host.state = options.state;
  }
  const auto stages = probe::probe_stages(host);
  probe::Processes processes;
  const auto looks = probe::look_at_host(host, stages, processes);
  if (!options.record.empty()) {
    // Before anything is made of it: what could not be judged is what somebody wants to see.
    const auto written = trainward::write_file_durably(options.record, probe::to_text(looks));
    if (!written) return trainward::fail(written.error().kind, written.error().message());
  }
  return probe::report_of(looks, stages, "sysfs");
}

Result<probe::Report> look(const Options& options) {
  if (!options.replay.empty()) return replay(options);
  if (options.source == "described") return probe::DescribedSource(options.host).look();
  return look_at_this_host(options);
}

// What options contradict each other; empty: none.
std::string contradiction(const Options& options) {
  if (options.source == "described" && options.host.empty()) {
    return "--source described needs --host FILE";
  }
  if (options.source == "sysfs" && !options.host.empty()) {
    return "--host FILE goes with --source described";
  }
  if (!options.record.empty() && (!options.replay.empty() || options.source == "described")) {
    return "--record FILE goes with a look at this host";
  }
  if (!options.replay.empty() && !options.host.empty()) {
    return "--replay FILE and --host FILE cannot be had together";
  }
  return "";
}

int cannot_tell(const std::string& message) {
  fmt::print(stderr, "trainward-probe: {}\n", trainward::clean(message));
  return static_cast<int>(probe::Health::unclear);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"Looks at the accelerator boards of this host and says what state they are in."};
  app.add_option("--source", options.source, "sysfs (this host) or described (a file)")
      ->check(CLI::IsMember({"sysfs", "described"}));
  app.add_option("--host", options.host, "description of a host; implies --source described");
  app.add_option("--root", options.root, "folder that stands for / (sysfs)");
  app.add_option("--state", options.state, "folder of the probe's locks and memory");
  app.add_option("--record", options.record, "write everything that was read into this file");
  app.add_option("--replay", options.replay, "report on such a file instead of on this host");
  app.add_flag("--deep", options.deep, "also the stages that need an idle board");
  app.add_flag("--json", options.json, "print the report as one JSON object");
  app.footer("Exit status: 0 healthy, 1 some boards usable, 2 none, 3 could not tell.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return cannot_tell(error.what());
  }
  if (options.source.empty()) options.source = options.host.empty() ? "sysfs" : "described";
  if (const std::string wrong = contradiction(options); !wrong.empty()) return cannot_tell(wrong);

  auto report = look(options);
  if (!report) return cannot_tell(report.error().message());
  if (options.json) {
    fmt::print("{}\n", trainward::json::serialize(probe::to_json(*report)));
  } else {
    // Line by line: what boards and recordings say of themselves is not for a terminal to obey.
    std::istringstream lines(probe::to_table(*report));
    for (std::string line; std::getline(lines, line);) {
      fmt::print("{}\n", trainward::clean(line));
    }
  }
  if (std::fflush(stdout) != 0) return cannot_tell("the report could not be written");
  return static_cast<int>(probe::health(*report));
}

}  // namespace

int main(int argc, char** argv) {
  // CLI11 and the formatter may throw; a probe that ends without an answer could not tell.
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return cannot_tell(error.what());
  }
}
