// trainwardd: reads the configuration, then keeps its programs running.

#include <malloc.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

#include "common/base/text.hpp"
#include "common/base/version.hpp"
#include "common/os/log.hpp"
#include "common/protocol/protocol.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/daemon/attempt/oom.hpp"
#include "supervisor/daemon/boards/host_offer.hpp"
#include "supervisor/daemon/lifetime.hpp"
#include "supervisor/daemon/loop/own_limits.hpp"
#include "supervisor/daemon/rehearsed_start.hpp"
#include "supervisor/daemon/service/inherited_sockets.hpp"
#include "supervisor/daemon/service/kept_sockets.hpp"
#include "supervisor/daemon/successor.hpp"
#include "supervisor/evidence/host/kernel_features.hpp"

namespace {

using namespace trainward;

struct Arguments {
  daemon::Options options;
  bool check = false;
  std::string rehearse;  // a number; empty: no
  std::string once_wait;
  std::string log = "auto";
  std::string log_level;
};

LogTarget log_target(const std::string& text) {
  if (text == "stderr") return LogTarget::standard_error;
  if (text == "journald") return LogTarget::journald;
  return LogTarget::automatic;
}

// Every problem on stderr; nothing when there is one.
std::optional<config::Config> load(const daemon::Options& options) {
  auto config = daemon::read_configuration(options, config::Accept::pipes);
  for (const config::Problem& problem : config ? config->notes : config.error()) {
    std::fprintf(stderr, "trainwardd: %s\n", clean(problem.text()).c_str());
  }
  if (!config) return std::nullopt;
  return std::move(*config);
}

std::string words_of(int argc, char** argv) {
  std::string words;
  for (int i = 1; i < argc; ++i) words += (i > 1 ? " " : "") + std::string(argv[i]);
  return words;
}

// What stands behind "--" is the command to run.
std::vector<std::string> take_command(int& argc, char** argv) {
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  if (dashes == end) return {};
  argc = static_cast<int>(dashes - argv);
  return {dashes + 1, end};
}

bool is_script(const std::filesystem::path& file) {
  return file.extension() == ".py" || file.extension() == ".sh";
}
// A script that lies here is found by its path alone, and only where it may be executed.
bool can_be_run(const std::filesystem::path& script) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(script, error)) return true;  // elsewhere: in $PATH
  return script.has_parent_path() && ::access(script.c_str(), X_OK) == 0;
}
std::string run_as(const std::filesystem::path& script) {
  return (script.extension() == ".py" ? "python3 " : "bash ") + clean(script.string());
}

// What to run, once the command line is read; false when it names nothing, which was said.
bool settle_what_to_run(daemon::Options& options, bool dashes) {
  const auto said = [](const char* wrong) {
    std::fprintf(stderr, "trainwardd: %s\n", wrong);
    return false;
  };
  if (dashes && options.command.empty()) return said("'--' is followed by the command to run");
  if (dashes && !options.config_file.empty()) {
    return said("takes a configuration file or, behind '--', a command, and not both");
  }
  if (dashes && is_script(options.command.front()) && !can_be_run(options.command.front())) {
    std::fprintf(stderr, "trainwardd: %s is no command; it is run so: trainwardd -- %s\n",
                 clean(options.command.front()).c_str(), run_as(options.command.front()).c_str());
    return false;
  }
  options.once = options.once || dashes;
  if (is_script(options.config_file)) {
    std::fprintf(stderr, "trainwardd: %s is a program, not a configuration: trainwardd -- %s\n",
                 clean(options.config_file.string()).c_str(), run_as(options.config_file).c_str());
    return false;
  }
  if (dashes || !options.config_file.empty()) return true;
  options.config_file = config::usual_file;
  std::error_code error;
  if (std::filesystem::exists(options.config_file, error)) return true;
  return said(
      "no trainward.yaml here: name a configuration file, let 'trainwardctl init' write one, or "
      "run a command without any: trainwardd -- python3 train.py");
}

bool said(const Status& status) {
  if (!status) std::fprintf(stderr, "trainwardd: %s\n", clean(status.error().message()).c_str());
  return !status;
}

int check(const config::Config& config) {
  const auto offer = daemon::host_offer();
  std::fputs(host::table(offer).c_str(), stdout);
  if (said(host::require(offer)) || said(daemon::check_files(config))) {
    return exit_code::configuration;
  }
  return exit_code::done;
}

int rehearse(const Arguments& arguments, const config::Config& config) {
  trainward::set_up_logging("trainwardd", LogTarget::standard_error, "warning");
  if (said(host::require(host::kernel_features())) ||
      said(daemon::rehearse_start(arguments.options, config))) {
    return exit_code::configuration;
  }
  std::printf("%s\n", daemon::ready_word(arguments.rehearse).c_str());
  return exit_code::done;
}

void set_up_logging(const Arguments& arguments, const config::Config& config) {
  // In --once mode the events are shown on stdout; the log then only adds what is wrong.
  const std::string level = !arguments.log_level.empty() ? arguments.log_level
                            : arguments.options.once     ? "warning"
                                                         : config.log_level;
  trainward::set_up_logging("trainwardd", log_target(arguments.log), level);
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Keeps training runs going on hardware that keeps failing."};
  app.set_version_flag("-v,--version", "trainwardd " + std::string(version_text));
  app.add_option("config,-c,--configuration", arguments.options.config_file,
                 "the configuration file (YAML, docs/config.md); trainward.yaml, when none is "
                 "named");
  app.add_flag("--once", arguments.options.once,
               "end when every program has ended, with a worker's exit codes");
  app.add_option("--once-wait", arguments.once_wait,
                 "with --once: how long to wait at most for uploads and messages that get on; what "
                 "stays behind is named, and exit code 0 becomes 74")
      ->type_name("DURATION")
      ->default_str("10m")
      ->check([](const std::string& text) {
        return yaml::parse_duration_ms(text) ? std::string()
                                             : "a duration as 90s, 10m or 2h is wanted";
      });
  app.add_flag("--fail-on-fatal", arguments.options.fail_on_fatal,
               "end with 93 when nothing is running and a program was given up meanwhile, so "
               "that a service's OnFailure= tells somebody");
  app.add_flag("--check", arguments.check,
               "say whether this version could run it here, with what this host offers and exit "
               "code 0 or 78, and end");
  // Of a daemon that is to be followed by this program (successor.hpp).
  app.add_option("--rehearse", arguments.rehearse)->group("");
  app.add_option("--set", arguments.options.overrides,
                 "override one value: --set programs.NAME.training_config.steps=100")
      ->allow_extra_args(false);
  app.add_option("--web-root", arguments.options.web_root,
                 "the page's style and scripts from this folder, while they are being changed")
      ->check(CLI::ExistingDirectory);
  app.add_option("--log", arguments.log, "auto, stderr or journald")
      ->check(CLI::IsMember({"auto", "stderr", "journald"}));
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  app.footer(
      "trainwardd -- COMMAND ARGUMENT...\n  keeps one command running without a file, until "
      "it is done.");
  int count = argc;
  arguments.options.command = take_command(count, argv);
  try {
    app.parse(count, argv);
  } catch (const CLI::ExtrasError& error) {
    // "trainwardd python3 train.py": what was meant is a command.
    const std::string command = words_of(count, argv);
    std::fprintf(stderr, "trainwardd: %s; to run a command: trainwardd -- %s\n", error.what(),
                 clean(command).c_str());
    return exit_code::usage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  if (!settle_what_to_run(arguments.options, count < argc)) return exit_code::usage;
  if (const auto wait = yaml::parse_duration_ms(arguments.once_wait)) {
    arguments.options.leave_within_ms = *wait;
  }
  std::error_code no_directory;
  arguments.options.working_directory = std::filesystem::current_path(no_directory);
  // Whatever umask it inherits: what it makes is for its user and group alone.
  ::umask(::umask(0) | 027);
  daemon::leave_no_core();
  auto config = load(arguments.options);
  if (!config) return exit_code::configuration;
  if (arguments.check) return check(*config);
  if (!arguments.rehearse.empty()) return rehearse(arguments, *config);
  // Found here, not by one attempt after the other.
  if (said(host::require(host::kernel_features()))) return exit_code::configuration;

  daemon::block_signals(true);
  // It may have been executed by way of /proc/self/exe.
  ::prctl(PR_SET_NAME, "trainwardd");
  arguments.options.executable = daemon::own_executable(argv[0]);
  arguments.options.sockets = daemon::inherited_sockets();
  daemon::KeptSockets kept = daemon::kept_sockets();
  arguments.options.kept = &kept;
  daemon::protect_from_oom();
  daemon::raise_descriptor_limit();
  set_up_logging(arguments, *config);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on files is a full disk, and no reason to die
  for (;;) {
    const daemon::Ended ended = daemon::live(arguments.options, std::move(*config));
    if (!ended.reexec) {
      if (ended.started && !arguments.options.command.empty()) {
        std::fputs("trainwardd: the whole run: trainwardctl report; its end: trainwardctl why\n",
                   stderr);
      }
      return ended.code;
    }
    daemon::become(ended.image, argv, kept);
    spdlog::error("{} does not start: {}; going on as version {}", ended.image.string(),
                  std::strerror(errno), version_text);
    config = load(arguments.options);
    if (!config) return exit_code::configuration;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // One heap for all threads: what one of them frees another can use.
  ::mallopt(M_ARENA_MAX, 1);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, for one
    std::fprintf(stderr, "trainwardd: %s\n", error.what());
    return trainward::exit_code::failed;
  }
}
