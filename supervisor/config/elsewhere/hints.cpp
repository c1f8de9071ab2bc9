#include "supervisor/config/elsewhere/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trainward::config::elsewhere {
namespace {

constexpr std::string_view own_checkpoints = "checkpoints lie in STATE_DIR/runs/NAME/checkpoints";
constexpr std::string_view one_process =
    "leave it out: processes wait for each other as long as they live";
constexpr std::string_view own_data =
    "leave it out: rows are read once, before the first step, and kept in memory";
constexpr std::string_view a_file =
    "a file or folder; nothing is downloaded: hf download NAME --repo-type dataset --local-dir DIR";
constexpr std::string_view all_devices = "over all devices together";
constexpr std::string_view own_form =
    "auto is the model's own template; else one of docs/finetune.md#forms-with-a-name";
constexpr std::string_view no_code = "leave it out: no code is loaded by its name";

constexpr std::array hints{
    // How long, how large, how fast.
    Hint{"per_device_train_batch_size", "training_config.batch_size", all_devices},
    Hint{"micro_batch_size", "training_config.batch_size", all_devices},
    Hint{"per_device_eval_batch_size", "",
         "leave it out: evaluations take training_config.batch_size rows at a time"},
    Hint{"warmup_ratio", "training_config.warmup_steps", "a number of steps, not a share of them"},
    Hint{"num_warmup_steps", "training_config.warmup_steps", ""},
    Hint{"max_steps_per_epoch", "training_config.steps", "of the whole run"},
    Hint{"lr_scheduler_kwargs", "training_config.final_learning_rate_share", "and schedule"},
    Hint{"use_gradient_checkpointing", "training_config.recompute", "true or false"},
    Hint{"loss", "", "leave it out: it is the cross-entropy over what is trained on"},
    Hint{"neftune_noise_alpha", "", "leave it out: there is no noise on embeddings"},
    Hint{"group_by_length", "", "leave it out: rows of about one length stand in a batch anyway"},
    Hint{"pad_to_sequence_len", "", "leave it out: training_config.packing fills rows"},
    Hint{"shuffle", "", "leave it out: every epoch has an order of its own"},

    // When something is looked at or kept.
    Hint{"val_set_size", "training_config.validation_share", "0.1 is a tenth of the rows"},
    Hint{"val_size", "training_config.validation_share", "0.1 is a tenth of the rows"},
    Hint{"evals_per_epoch", "training_config.evaluate_every", "in steps"},
    Hint{"saves_per_epoch", "training_config.checkpoint_every", "in steps"},
    Hint{"save_only_model", "", "leave it out: checkpoints always hold all that a resume needs"},
    Hint{"save_adapter_weights_only", "", "leave it out: of adapters nothing else is saved"},
    Hint{"overwrite_output_dir", "", "leave it out: nothing is ever overwritten"},
    Hint{"load_best_model_at_end", "training_config.keep_best", "keeps the best checkpoints"},
    Hint{"metric_for_best_model", "", "leave it out: it is the loss of the evaluations"},
    Hint{"output_dir", "", own_checkpoints},
    Hint{"checkpoint_dir", "", own_checkpoints},
    Hint{"checkpoint_path", "", own_checkpoints},
    Hint{"checkpointer", "training_config.base_model",
         "the model's folder; our own are resumed from"},
    Hint{"push_to_hub", "upload", "docs/upload-hub.md"},
    Hint{"hub_model_id", "upload", "docs/upload-hub.md"},
    Hint{"metric_logger", "tracking", "docs/tracking.md"},
    Hint{"wandb_entity", "tracking", "wandb sync is told it (docs/tracking.md)"},
    Hint{"plot_loss", "", "leave it out: trainwardctl top, open and report show it"},
    Hint{"log_peak_memory_stats", "", "leave it out: trainwardctl metrics has it"},
    Hint{"profiler", "", "leave it out: there is none"},

    // What it is trained on.
    Hint{"dataset", "training_config.data", a_file},
    Hint{"datasets", "training_config.data", a_file},
    Hint{"dataset_name", "training_config.data", a_file},
    Hint{"dataset_dir", "training_config.data", a_file},
    Hint{"train_dataset", "training_config.data", a_file},
    Hint{"eval_dataset", "training_config.validation_data", a_file},
    Hint{"test_datasets", "training_config.validation_data", a_file},
    Hint{"dataset_text_field", "training_config.column_mapping", "{text: its name}"},
    Hint{"dataset_prepared_path", "", own_data},
    Hint{"dataset_num_proc", "", own_data},
    Hint{"preprocessing_num_workers", "", own_data},
    Hint{"dataloader_num_workers", "", own_data},
    Hint{"overwrite_cache", "", own_data},
    Hint{"max_samples", "", "leave it out: a file of fewer rows is the way"},
    Hint{"template", "training_config.prompt_format", own_form},
    Hint{"chat_template", "training_config.prompt_format", own_form},
    Hint{"special_tokens", "", "leave it out: they are those of the model's folder"},

    // What is trained.
    Hint{"adapter", "training_config.lora", "a map: lora: {r: 16, lora_alpha: 32}"},
    Hint{"finetuning_type", "training_config.lora",
         "a map: lora: {r: 16}; leave it out for all weights"},
    Hint{"full_finetuning", "training_config.lora", "leave lora out to train all weights"},
    Hint{"peft_config", "training_config.lora", ""},
    Hint{"use_peft", "training_config.lora", "a map: lora: {r: 16}"},
    Hint{"lora_target", "training_config.lora.target_modules", "a list, or all-linear"},
    Hint{"lora_attn_modules", "training_config.lora.target_modules", "a list, or all-linear"},
    Hint{"apply_lora_to_mlp", "training_config.lora.target_modules", "a list, or all-linear"},
    Hint{"stage", "", "leave it out: it is always fine-tuning on answers (sft)"},
    Hint{"do_train", "", "leave it out: it is what trainwardd does"},
    Hint{"trust_remote_code", "", no_code},
    Hint{"weight_tying", "training_config.tie_weights", ""},

    // What computes.
    Hint{"attn_implementation", "device_config.attention", "auto, plain or fused"},
    Hint{"flash_attention", "device_config.attention", "auto, plain or fused"},
    Hint{"flash_attn", "device_config.attention", "auto, plain or fused"},
    Hint{"tf32", "training_config.precision", "f32 or bf16"},
    Hint{"compile", "", "leave it out: the model is always compiled"},
    Hint{"torch_compile", "", "leave it out: the model is always compiled"},
    Hint{"deepspeed", "device_config.mesh_shape", "[1, N] shares a step; weights are not split"},
    Hint{"fsdp", "device_config.mesh_shape", "[1, N] shares a step; weights are not split"},
    Hint{"ddp_timeout", "", one_process},
    Hint{"training", "training_config", ""},
};

}  // namespace

std::span<const Hint> all_hints() { return hints; }

std::string hint_for(std::string_view theirs) {
  const auto* const hint = std::ranges::find(hints, theirs, &Hint::theirs);
  if (hint == hints.end()) return "";
  if (hint->ours.empty()) return fmt::format("there is no such key here: {}", hint->says);
  return fmt::format("here it is {}{}", hint->ours,
                     hint->says.empty() ? "" : fmt::format(" ({})", hint->says));
}

}  // namespace trainward::config::elsewhere
