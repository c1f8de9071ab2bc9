// trainwardd: reads the configuration, then keeps its programs running.

#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "common/log.hpp"
#include "common/protocol.hpp"
#include "common/version.hpp"
#include "supervisor/daemon/daemon.hpp"

namespace {

using namespace trainward;

struct Arguments {
  daemon::Options options;
  std::string log = "auto";
  std::string log_level;
};

LogTarget log_target(const std::string& text) {
  if (text == "stderr") return LogTarget::standard_error;
  if (text == "journald") return LogTarget::journald;
  return LogTarget::automatic;
}

int complain(const Error& error) {
  std::fprintf(stderr, "trainwardd: %s\n", error.message().c_str());
  return error.kind == ErrorKind::transient ? exit_code::try_again : exit_code::failed;
}

// Runs until the loop ends. `reexec` is set when the daemon asked to be started anew in place.
int serve(const Arguments& arguments, config::Config config, bool& reexec) {
  daemon::Loop loop;
  auto made = daemon::Daemon::make(loop, arguments.options, std::move(config));
  if (!made) return complain(made.error());
  daemon::Daemon& daemon = **made;
  // SIGHUP as well: a closed terminal must let the workers save.
  const daemon::Signals signals(loop, {SIGTERM, SIGINT, SIGQUIT, SIGHUP},
                                [&daemon](int) { daemon.shut_down(); });
  if (auto started = daemon.start(); !started) return complain(started.error());
  sd_notify(0, "READY=1");
  loop.run();
  sd_notify(0, "STOPPING=1");
  reexec = daemon.wants_reexec();
  return daemon.exit_code();
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Keeps training runs going on hardware that keeps failing."};
  app.set_version_flag("-v,--version", "trainwardd " + std::string(version_text));
  app.add_option("config,-c,--configuration", arguments.options.config_file,
                 "the configuration file (YAML, docs/config.md)")
      ->required();
  app.add_flag("--once", arguments.options.once,
               "end when every program has ended, with a worker's exit codes");
  app.add_option("--set", arguments.options.overrides,
                 "override one value: --set programs.NAME.training_config.steps=100")
      ->allow_extra_args(false);
  app.add_option("--log", arguments.log, "auto, stderr or journald")
      ->check(CLI::IsMember({"auto", "stderr", "journald"}));
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  std::error_code no_directory;
  arguments.options.working_directory = std::filesystem::current_path(no_directory);

  auto config = config::load(arguments.options.config_file, arguments.options.working_directory,
                             arguments.options.overrides);
  if (!config) {
    for (const config::Problem& problem : config.error()) {
      std::fprintf(stderr, "trainwardd: %s\n", problem.text().c_str());
    }
    return exit_code::configuration;
  }
  // In --once mode the events are shown on stdout; the log then only adds what is wrong.
  const std::string level = !arguments.log_level.empty() ? arguments.log_level
                            : arguments.options.once     ? "warning"
                                                         : config->log_level;
  set_up_logging("trainwardd", log_target(arguments.log), level);
  std::signal(SIGPIPE, SIG_IGN);

  bool reexec = false;
  const int code = serve(arguments, std::move(*config), reexec);
  if (reexec) {
    ::execv("/proc/self/exe", argv);
    std::perror("trainwardd: cannot start anew");
    return exit_code::failed;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, for one
    std::fprintf(stderr, "trainwardd: %s\n", error.what());
    return trainward::exit_code::failed;
  }
}
