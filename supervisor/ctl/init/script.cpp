#include "supervisor/ctl/init/script.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "common/base/text.hpp"

namespace trainward::ctl {
namespace {

struct Framework {
  std::string_view module;  // that is imported
  std::string_view holds;   // and what the text has in it besides; may be empty
  std::string_view name;
  std::string_view resumes;
};

constexpr std::string_view by_trainer =
    "trainer.train(resume_from_checkpoint=True) goes on from the newest checkpoint-N";

// What builds on another stands before it.
constexpr std::array frameworks{
    Framework{"trl", "", "TRL", by_trainer},
    Framework{"axolotl", "", "axolotl", "auto_resume_from_checkpoints: true goes on by itself"},
    Framework{"llamafactory", "", "LLaMA-Factory", ""},
    Framework{"transformers", "Trainer", "Hugging Face Trainer", by_trainer},
    Framework{"lightning", "", "Lightning", "trainer.fit(…, ckpt_path=\"last\") goes on by itself"},
    Framework{"pytorch_lightning", "", "Lightning",
              "trainer.fit(…, ckpt_path=\"last\") goes on by itself"},
    Framework{"torchtune", "", "torchtune", "resume_from_checkpoint: True goes on by itself"},
    Framework{"torchtitan", "", "torchtitan", "it goes on from its newest checkpoint"},
    Framework{"megatron", "", "Megatron-LM", "--load FOLDER goes on from the newest checkpoint"},
    Framework{"deepspeed", "", "DeepSpeed", "load_checkpoint(FOLDER) goes on from its 'latest'"},
    Framework{"accelerate", "", "Accelerate", "accelerator.load_state(FOLDER) goes on"},
    Framework{"ttml", "", "tt-train", ""},
    Framework{"keras", "", "Keras", "keras.callbacks.BackupAndRestore(FOLDER) goes on by itself"},
    Framework{"tensorflow", "", "TensorFlow",
              "keras.callbacks.BackupAndRestore(FOLDER) goes on by itself"},
    Framework{"flax", "", "Flax", ""},
    Framework{"jax", "", "JAX", ""},
    Framework{"torch", "iter_num", "nanoGPT", "--init_from=resume goes on from out/ckpt.pt"},
    Framework{"torch", "", "PyTorch", ""},
};

std::set<std::string_view> imports_of(std::string_view text) {
  std::set<std::string_view> modules;
  while (!text.empty()) {
    std::string_view line = trim(take_line(text));
    const bool from = line.starts_with("from ");
    if (!from && !line.starts_with("import ")) continue;
    line.remove_prefix(from ? 5 : 7);
    // "import a.b as c, d"
    while (!line.empty()) {
      const std::string_view module = trim(line.substr(0, line.find(',')));
      modules.insert(module.substr(0, module.find_first_of(". \t;#")));
      const auto comma = line.find(',');
      if (from || comma == std::string_view::npos) break;
      line.remove_prefix(comma + 1);
    }
  }
  return modules;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// add_argument("--resume", …): with a value, or as a flag.
void read_resume_option(std::string_view text, Script& script) {
  constexpr std::array<std::string_view, 9> names{"--resume_from_checkpoint",
                                                  "--resume-from-checkpoint",
                                                  "--resume_from",
                                                  "--resume-from",
                                                  "--ckpt_path",
                                                  "--checkpoint_path",
                                                  "--ckpt",
                                                  "--checkpoint",
                                                  "--resume"};
  for (const std::string_view name : names) {
    for (const char quote : {'"', '\''}) {
      const std::string quoted = quote + std::string(name) + quote;
      const auto at = text.find(quoted);
      if (at == std::string_view::npos) continue;
      const std::string_view call = text.substr(at, text.find('\n', text.find(')', at)) - at);
      const bool flag = has(call, "store_true") || has(call, "BooleanOptionalAction");
      std::string& found = flag ? script.resume_flag : script.resume_option;
      if (found.empty()) found = name;
    }
  }
}

}  // namespace

Script read_script(std::string_view text) {
  const auto modules = imports_of(text);
  const auto* const found =
      std::find_if(frameworks.begin(), frameworks.end(), [&](const Framework& framework) {
        return modules.contains(framework.module) && has(text, framework.holds);
      });
  Script script;
  if (found != frameworks.end()) {
    script.framework = found->name;
    script.resumes = found->resumes;
  }
  read_resume_option(text, script);
  script.distributed = has(text, "init_process_group") || has(text, "LOCAL_RANK");
  for (const char* sign : {".backward(", ".fit(", ".train(", "train_step", "value_and_grad"}) {
    script.trains = script.trains || has(text, sign);
  }
  for (const char* sign : {".save(", "save_", "savez(", ".dump("}) {
    script.saves = script.saves || has(text, sign);
  }
  return script;
}

}  // namespace trainward::ctl
