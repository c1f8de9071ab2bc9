// trainward-probe: one look at the hardware, as a table or as JSON.
// Exit status: 0 healthy, 1 some boards usable, 2 none, 3 could not tell.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "hwprobe/described.hpp"
#include "hwprobe/draw/drawing.hpp"
#include "hwprobe/formats/cluster_descriptor.hpp"
#include "hwprobe/formats/input.hpp"
#include "hwprobe/formats/nvidia_verdict.hpp"
#include "hwprobe/formats/tt_smi.hpp"
#include "hwprobe/sysfs.hpp"
#include "hwprobe/table.hpp"
#include "hwprobe/verdict.hpp"

namespace {

namespace probe = trainward::hwprobe;

struct Options {
  std::string source;
  std::string host;
  std::string root = "/";
  std::string nvidia;    // file to read, or "-"
  std::string tt_smi;    // likewise
  std::string expected;  // cluster descriptor; empty: nothing is expected
  bool json = false;
  bool draw = false;
};

std::unique_ptr<probe::Source> make_source(const Options& options) {
  if (options.source == "described") return std::make_unique<probe::DescribedSource>(options.host);
  return std::make_unique<probe::SysfsSource>(
      options.root, [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); },
      ::getpid());
}

// The report another program gave, or a look of our own.
trainward::Result<probe::Report> look(const Options& options) {
  const auto read = [](const std::string& name, std::size_t max_bytes, const auto& reader) {
    auto text = probe::read_input(name, max_bytes);
    if (!text) return trainward::Result<probe::Report>(trainward::propagate(text));
    return reader(*text, name == "-" ? "standard input" : name);
  };
  if (!options.nvidia.empty()) {
    return read(options.nvidia, probe::max_nvidia_smi_bytes, probe::read_nvidia_smi);
  }
  if (!options.tt_smi.empty()) {
    return read(options.tt_smi, probe::max_snapshot_bytes, probe::read_tt_smi);
  }
  return make_source(options)->look();
}

trainward::Result<probe::Expected> read_expected(const std::string& file) {
  if (file.empty()) return probe::Expected{};
  auto text = probe::read_input(file, probe::max_descriptor_bytes);
  if (!text) return trainward::propagate(text);
  auto descriptor = probe::read_cluster_descriptor(*text, file);
  if (!descriptor) return trainward::propagate(descriptor);
  return std::move(descriptor->expected);
}

int cannot_tell(const std::string& message) {
  fmt::print(stderr, "trainward-probe: {}\n", message);
  return static_cast<int>(probe::Health::unclear);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"Looks at the accelerator boards of this host and says what state they are in."};
  app.add_option("--source", options.source, "sysfs (this host) or described (a file)")
      ->check(CLI::IsMember({"sysfs", "described"}));
  app.add_option("--host", options.host, "description of a host; implies --source described");
  app.add_option("--root", options.root, "folder that stands for / (sysfs)");
  auto* nvidia = app.add_option("--nvidia", options.nvidia,
                                "what nvidia-smi -q -x printed: a file, or - for standard input");
  auto* tt_smi = app.add_option("--tt-smi", options.tt_smi,
                                "what tt-smi -s --snapshot_no_tty printed: a file, or -");
  nvidia->excludes(tt_smi)->excludes("--source")->excludes("--host")->excludes("--root");
  tt_smi->excludes("--source")->excludes("--host")->excludes("--root");
  app.add_option("--expect", options.expected, "cluster descriptor of what the host should have");
  app.add_flag("--draw", options.draw, "draw the chips and the links below the table");
  app.add_flag("--json", options.json, "print the report as one JSON object");
  app.footer("Exit status: 0 healthy, 1 some boards usable, 2 none, 3 could not tell.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return cannot_tell(error.what());
  }
  if (options.source.empty()) options.source = options.host.empty() ? "sysfs" : "described";
  if (options.source == "described" && options.host.empty()) {
    return cannot_tell("--source described needs --host FILE");
  }
  if (options.source == "sysfs" && !options.host.empty()) {
    return cannot_tell("--host FILE goes with --source described");
  }

  const auto expected = read_expected(options.expected);
  if (!expected) return cannot_tell(expected.error().message());
  auto report = look(options);
  if (!report) return cannot_tell(report.error().message());
  probe::apply_expected(*report, *expected);
  if (options.json) {
    fmt::print("{}\n", trainward::json::serialize(probe::to_json(*report)));
  } else {
    const bool colours = ::isatty(STDOUT_FILENO) == 1;
    fmt::print("{}", probe::to_table(*report, colours));
    if (options.draw) {
      fmt::print("\n{}", probe::draw(probe::make_graph(*report, *expected), colours));
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
