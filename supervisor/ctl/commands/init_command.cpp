// init: a first configuration for what is there.
#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/config_writer.hpp"
#include "supervisor/ctl/init/yaml.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

struct InitRequest {
  std::vector<std::string> words;  // a folder or a script, and "-"
  bool force = false;
};

int init(const Context& context, const InitRequest& request) {
  std::vector<std::string> words = request.words;
  const bool prints = std::erase(words, "-") > 0;
  const fs::path target = words.empty() ? "." : words.front();
  std::error_code error;
  const bool folder = fs::is_directory(target, error);
  if (words.size() > 1 || (!folder && !fs::is_regular_file(target, error))) {
    context.terminal.err << clean(words.back()) << ": no such folder or script\n";
    return exit_status::usage;
  }
  // A script runs where the command is typed, as it would without us.
  Surroundings around = look_around(folder ? target : ".", folder ? fs::path() : target);
  around.boards = look_for_boards();
  const fs::path file = ((folder ? target : fs::path()) / config::usual_file).lexically_normal();
  const std::string found =
      around.script.empty()
          ? ", our own worker: no training script was found"
          : fmt::format(", {}{}", clean(around.script.string()),
                        around.about.framework.empty() ? "" : " (" + around.about.framework + ")");
  return hand_over(context, {.file = prints ? "-" : file,
                             .text = first_configuration(around),
                             .force = request.force,
                             .said = found});
}

}  // namespace

void add_init(Cli& cli) {
  auto& request = cli.keep<InitRequest>();
  const Verb verb = cli.verb("init", "write a first trainward.yaml for what is here");
  verb.option("FOLDER|SCRIPT", request.words, "where to look (.), or what to run; - prints it");
  verb.flag("--force", request.force, "replace trainward.yaml when there is one");
  cli.on(verb, request, init);
}

}  // namespace trainward::ctl
