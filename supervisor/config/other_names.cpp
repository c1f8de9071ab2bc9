#include "supervisor/config/other_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "common/settings/worker_settings.hpp"
#include "supervisor/config/import/program_entry.hpp"

namespace trainward::config {
namespace {

using Name = ProgramWord;

// tt-train, tt-blacksmith, Hugging Face
constexpr std::array trainers{
    Name{"max_steps", "training_config.steps", ""},
    Name{"num_steps", "training_config.steps", ""},
    Name{"num_train_epochs", "training_config.steps",
         "a run is as long as its steps, not its epochs"},
    Name{"lr", "training_config.learning_rate", ""},
    Name{"max_lr", "training_config.learning_rate", ""},
    Name{"min_lr", "training_config.final_learning_rate_share", "as a share of learning_rate"},
    Name{"gradient_accumulation_steps", "training_config.accumulation", ""},
    Name{"per_device_train_batch_size", "training_config.batch_size", "over all devices together"},
    Name{"max_length", "training_config.block_size", ""},
    Name{"max_seq_len", "training_config.block_size", ""},
    Name{"max_seq_length", "training_config.block_size", ""},
    Name{"max_sequence_length", "training_config.block_size", ""},
    Name{"clip_grad_norm_max_norm", "training_config.gradient_clip", ""},
    Name{"use_clip_grad_norm", "training_config.gradient_clip", "0 is none"},
    Name{"max_grad_norm", "training_config.gradient_clip", "0 is none"},
    Name{"grad_clip", "training_config.gradient_clip", "0 is none"},
    Name{"adam_beta1", "training_config.beta1", ""},
    Name{"adam_beta2", "training_config.beta2", ""},
    Name{"adam_epsilon", "training_config.epsilon", ""},
    Name{"dropout_prob", "training_config.dropout", ""},
    Name{"weight_tying", "training_config.tie_weights", ""},
    Name{"gradient_checkpointing", "training_config.recompute", ""},
    Name{"runner_type", "training_config.recompute", "true for memory_efficient"},
    Name{"dtype", "training_config.precision", "f32 or bf16"},
    Name{"scheduler_type", "training_config.schedule", "constant (their identity) or cosine"},
    Name{"lr_scheduler_type", "training_config.schedule", "constant or cosine"},
    Name{"scheduler_config", "training_config.schedule", "with warmup_steps beside it"},
    Name{"eval_every", "training_config.evaluate_every", ""},
    Name{"eval_steps", "training_config.evaluate_every", ""},
    Name{"eval_interval", "training_config.evaluate_every", ""},
    Name{"val_steps_freq", "training_config.evaluate_every", ""},
    Name{"validation_frequency", "training_config.evaluate_every", ""},
    Name{"model_save_interval", "training_config.checkpoint_every", ""},
    Name{"checkpoint_frequency", "training_config.checkpoint_every", ""},
    Name{"save_interval", "training_config.checkpoint_every", ""},
    Name{"save_steps", "training_config.checkpoint_every", ""},
    Name{"save_strategy", "training_config.checkpoint_every", "in steps"},
    Name{"keep_last_n", "checkpoints.keep", ""},
    Name{"save_total_limit", "checkpoints.keep", ""},
    Name{"train_data", "training_config.data", ""},
    Name{"data_path", "training_config.data", ""},
    Name{"data_config", "training_config.data", "with tokenizer beside it"},
    Name{"dataset_id", "training_config.data", "files or folders on this machine"},
    Name{"tokenizer_path", "training_config.tokenizer", ""},
    Name{"tokenizer_type", "training_config.tokenizer", "'byte' or a tokenizer.json"},
    Name{"vocab_size", "training_config.vocabulary", ""},
    Name{"model_type", "training_config.model", "the name of a preset"},
    Name{"model_name", "training_config.model", "the name of a preset"},
    Name{"model_config", "training_config.model", "the name of a preset"},
    Name{"model_path", "training_config.model", "the name of a preset"},
    Name{"transformer_config", "training_config.model", "the name of a preset"},
    Name{"optimizer", "training_config", "of AdamW: learning_rate, beta1, beta2, epsilon"},
    Name{"optim", "training_config", "it is always AdamW"},
    Name{"use_moreh_adamw", "training_config", "it is always AdamW"},
    Name{"log_interval", "logging_config.log_every", ""},
    Name{"logging_steps", "logging_config.log_every", ""},
    Name{"steps_freq", "logging_config.log_every", ""},
    Name{"device_ids", "board", "boards are found, and named to the program"},
    Name{"checkpoint_dir", "", "checkpoints lie in STATE_DIR/runs/NAME/checkpoints"},
    Name{"output_dir", "", "checkpoints lie in STATE_DIR/runs/NAME/checkpoints"},
    Name{"checkpoint_path", "", "checkpoints lie in STATE_DIR/runs/NAME/checkpoints"},
    Name{"resume_from_checkpoint", "", "the newest whole checkpoint is always resumed from"},
    Name{"resume_option", "", "the newest whole checkpoint is always resumed from"},
    Name{"use_wandb", "", "nothing leaves this machine; leave it out"},
    Name{"wandb_project", "", "nothing leaves this machine; leave it out"},
    Name{"wandb_run_name", "", "nothing leaves this machine; leave it out"},
    Name{"lora_config", "", "our own worker trains all weights"},
    Name{"lora_r", "", "our own worker trains all weights"},
    Name{"lora_alpha", "", "our own worker trains all weights"},
    Name{"lora_target_modules", "", "our own worker trains all weights"},
    Name{"training_type", "", "our own worker trains all weights"},
    Name{"eval_config", "", "our own worker writes no samples"},
    Name{"enable_tp", "", "devices share a step by its batch: device_config.mesh_shape"},
    Name{"use_tt", "device_config.device", "'pjrt', with the plugin beside it"},
};

// What other supervisors and launchers call it; supervisord's words are a table of their own
// (import/program_words.cpp).
constexpr std::array supervisors{
    Name{"redirect_stdout", "", "both streams are kept, each for itself"},
    Name{"env", "environment", ""},
    Name{"cwd", "directory", ""},
    Name{"working_directory", "directory", ""},
    Name{"args", "command", "the program and its arguments in one list"},
    Name{"script", "command", "as in [python3, train.py]"},
    Name{"cmd", "command", ""},
};

// Those that read_program() reads; config_test compares.
constexpr std::array<std::string_view, 24> program_keys{
    "autostart",       "autorestart",   "command",        "directory",  "environment",
    "training_config", "device_config", "logging_config", "watch",      "probe_command",
    "reset_command",   "board",         "checkpoints",    "deadlines",  "budgets",
    "backoff",         "plan",          "rollback",       "quarantine", "logs",
    "limits",          "user",          "group",          "umask"};

const Name* find_other(std::string_view key) {
  for (const auto& names : {std::span<const Name>(trainers), std::span<const Name>(supervisors)}) {
    for (const Name& name : names) {
      if (name.theirs == key) return &name;
    }
  }
  return find_program_word(key);
}

}  // namespace

std::string other_name(std::string_view key) {
  for (const settings::Setting& setting : settings::worker_settings) {
    if (setting.key == key) {
      return fmt::format("it belongs to programs.NAME.{}", setting.section);
    }
  }
  if (is_program_key(key)) return "it belongs to a program: programs.NAME." + std::string(key);
  const Name* name = find_other(key);
  if (name == nullptr) return "";
  if (name->ours.empty()) return fmt::format("there is no such key here: {}", name->why);
  const std::string more = name->why.empty() ? "" : fmt::format(" ({})", name->why);
  return fmt::format("here it is {}{}", name->ours, more);
}

bool is_program_key(std::string_view key) {
  return std::find(program_keys.begin(), program_keys.end(), key) != program_keys.end();
}

}  // namespace trainward::config
