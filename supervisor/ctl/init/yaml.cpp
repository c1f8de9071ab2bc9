#include "supervisor/ctl/init/yaml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/text.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/single_program.hpp"

namespace trainward::ctl {
namespace {

// In `command` a brace stands for a name.
std::string word(const std::string& text) {
  std::string doubled;
  for (const char c : text) doubled += c == '{' ? "{{" : std::string(1, c);
  return yaml::text_scalar(doubled);
}

std::string boards_text(const Surroundings& around) {
  std::string text;
  for (const std::string& board : around.boards) text += "    # found: " + clean(board) + '\n';
  if (text.empty()) return text;
  return text + "    # board: {required: true}   # run only on one that works, alone on it\n";
}

constexpr const char* care =
    R"(    # deadlines: {stop: 60s}      # how long it may take to end when it is asked to
    # limits: {memory: 32GiB}     # of the program and all it starts
    # autorestart: unexpected     # always, never; see docs/config.md for the rest
)";

std::string of_script(const Surroundings& around) {
  const Script& script = around.about;
  const std::string file = around.script.string();
  const bool shell = around.script.extension() == ".sh";
  const std::string runner = shell ? "bash" : around.python;
  const std::string start = fmt::format("{}, {}", word(runner), word(file));
  std::string text = fmt::format(
      "programs:\n  {}:\n",
      yaml::text_scalar(config::name_of_command(std::vector<std::string>{runner, file})));
  if (!script.framework.empty()) {
    text += fmt::format("    # {}: {}\n", clean(file), script.framework);
  }
  if (!script.resumes.empty()) {
    text += fmt::format("    # to go on after a crash: {}\n", script.resumes);
  }
  const bool takes_path = !script.resume_option.empty();
  const bool told = (takes_path || !script.resume_flag.empty()) && !around.checkpoints.empty();
  const std::string resume =
      !takes_path && !script.resume_flag.empty()
          ? fmt::format("\"{{checkpoint:+{}}}\"", script.resume_flag)
          : fmt::format("[{}, \"{{checkpoint}}\"]", takes_path ? script.resume_option : "--resume");
  if (told) {
    text += "    # without a checkpoint yet, the words that name it are left out\n";
    text += fmt::format("    command: [{}, {}]\n", start, resume);
  } else {
    text += fmt::format("    command: [{}]\n", start);
    text += "    # to resume from a checkpoint (left out while none exists):\n";
    text += fmt::format("    # command: [{}, {}]\n", start, resume);
  }
  if (script.distributed) {
    text += fmt::format(
        "    # command: [torchrun, --standalone, --nproc_per_node=2, {}]   # several ranks\n",
        word(file));
  }
  if (!around.other_scripts.empty()) {
    text += "    # other scripts here: " +
            clean(fmt::format("{}", fmt::join(around.other_scripts, ", "))) + '\n';
  }
  if (!around.checkpoints.empty()) {
    text +=
        fmt::format("    watch:\n      checkpoints: [{}]\n", yaml::text_scalar(around.checkpoints));
  } else {
    text += "    # watch: {checkpoints: ['ckpts/step*.pt']}   # where the script saves\n";
  }
  return text + boards_text(around) + care;
}

std::string of_worker(const Surroundings& around) {
  std::string text =
      "programs:\n  main:\n    # no training script was found here, so our own worker trains\n";
  text += "    # command: [python3, train.py]   # instead of training_config and device_config\n";
  text +=
      "    training_config:\n      model: micro_3x            # its size; docs/config.md lists "
      "them\n";
  text += "      steps: 1000\n      batch_size: 8\n      block_size: 128\n";
  if (around.texts.empty()) {
    text +=
        "      # data: [corpus]           # text, JSONL or folders of them; without it the "
        "licences "
        "of this system\n";
  } else {
    std::vector<std::string> names;
    for (const std::string& name : around.texts) names.push_back(yaml::text_scalar(name));
    text += fmt::format("      data: [{}]\n", fmt::join(names, ", "));
  }
  text += "    device_config: {threads: 2}\n";
  return text + boards_text(around) + care;
}

}  // namespace

std::string first_configuration(const Surroundings& around) {
  return "# Made by 'trainwardctl init' of what was found here. Every key: docs/config.md\n" +
         (around.script.empty() ? of_worker(around) : of_script(around));
}

}  // namespace trainward::ctl
