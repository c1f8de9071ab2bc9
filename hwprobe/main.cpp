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
#include "hwprobe/sysfs.hpp"
#include "hwprobe/table.hpp"
#include "hwprobe/verdict.hpp"

namespace {

namespace probe = trainward::hwprobe;

struct Options {
  std::string source;
  std::string host;
  std::string root = "/";
  bool json = false;
};

std::unique_ptr<probe::Source> make_source(const Options& options) {
  if (options.source == "described") return std::make_unique<probe::DescribedSource>(options.host);
  return std::make_unique<probe::SysfsSource>(
      options.root, [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); },
      ::getpid());
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

  auto report = make_source(options)->look();
  if (!report) return cannot_tell(report.error().message());
  if (options.json) {
    fmt::print("{}\n", trainward::json::serialize(probe::to_json(*report)));
  } else {
    fmt::print("{}", probe::to_table(*report));
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
