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
    Counterpart{"per_device_train_batch_size", "training_config.batch_size", all_devices},
    Counterpart{"micro_batch_size", "training_config.batch_size", all_devices},
    Counterpart{"per_device_eval_batch_size", "",
                "leave it out: evaluations take training_config.batch_size rows at a time"},
    Counterpart{"warmup_ratio", "training_config.warmup_steps",
                "a number of steps, not a share of them"},
    Counterpart{"num_warmup_steps", "training_config.warmup_steps", ""},
    Counterpart{"max_steps_per_epoch", "training_config.steps", "of the whole run"},
    Counterpart{"lr_scheduler_kwargs", "training_config.final_learning_rate_share", "and schedule"},
    Counterpart{"use_gradient_checkpointing", "training_config.recompute", "true or false"},
    Counterpart{"loss", "", "leave it out: it is the cross-entropy over what is trained on"},
    Counterpart{"neftune_noise_alpha", "", "leave it out: there is no noise on embeddings"},
    Counterpart{"group_by_length", "",
                "leave it out: rows of about one length stand in a batch anyway"},
    Counterpart{"pad_to_sequence_len", "", "leave it out: training_config.packing fills rows"},
    Counterpart{"shuffle", "", "leave it out: every epoch has an order of its own"},

    // When something is looked at or kept.
    Counterpart{"val_set_size", "training_config.validation_share", "0.1 is a tenth of the rows"},
    Counterpart{"val_size", "training_config.validation_share", "0.1 is a tenth of the rows"},
    Counterpart{"evals_per_epoch", "training_config.evaluate_every", "in steps"},
    Counterpart{"saves_per_epoch", "training_config.checkpoint_every", "in steps"},
    Counterpart{"save_only_model", "",
                "leave it out: checkpoints always hold all that a resume needs"},
    Counterpart{"save_adapter_weights_only", "", "leave it out: of adapters nothing else is saved"},
    Counterpart{"overwrite_output_dir", "", "leave it out: nothing is ever overwritten"},
    Counterpart{"load_best_model_at_end", "training_config.keep_best",
                "keeps the best checkpoints"},
    Counterpart{"metric_for_best_model", "", "leave it out: it is the loss of the evaluations"},
    Counterpart{"output_dir", "", own_checkpoints},
    Counterpart{"checkpoint_dir", "", own_checkpoints},
    Counterpart{"checkpoint_path", "", own_checkpoints},
    Counterpart{"checkpointer", "training_config.base_model",
                "the model's folder; our own are resumed from"},
    Counterpart{"push_to_hub", "upload", "docs/upload-hub.md"},
    Counterpart{"hub_model_id", "upload", "docs/upload-hub.md"},
    Counterpart{"metric_logger", "tracking", "docs/tracking.md"},
    Counterpart{"wandb_entity", "tracking", "wandb sync is told it (docs/tracking.md)"},
    Counterpart{"plot_loss", "", "leave it out: trainwardctl top, open and report show it"},
    Counterpart{"log_peak_memory_stats", "", "leave it out: trainwardctl metrics has it"},
    Counterpart{"profiler", "", "leave it out: Trainward has no profiler"},

    // What it is trained on.
    Counterpart{"dataset", "training_config.data", a_file},
    Counterpart{"datasets", "training_config.data", a_file},
    Counterpart{"dataset_name", "training_config.data", a_file},
    Counterpart{"dataset_dir", "training_config.data", a_file},
    Counterpart{"train_dataset", "training_config.data", a_file},
    Counterpart{"eval_dataset", "training_config.validation_data", a_file},
    Counterpart{"test_datasets", "training_config.validation_data", a_file},
    Counterpart{"dataset_text_field", "training_config.column_mapping", "{text: its name}"},
    Counterpart{"dataset_prepared_path", "", own_data},
    Counterpart{"dataset_num_proc", "", own_data},
    Counterpart{"preprocessing_num_workers", "", own_data},
    Counterpart{"dataloader_num_workers", "", own_data},
    Counterpart{"overwrite_cache", "", own_data},
    Counterpart{"max_samples", "", "leave it out: a file of fewer rows is the way"},
    Counterpart{"template", "training_config.prompt_format", own_form},
    Counterpart{"chat_template", "training_config.prompt_format", own_form},
    Counterpart{"special_tokens", "", "leave it out: they are those of the model's folder"},

    // What is trained.
    Counterpart{"adapter", "training_config.lora", "a map: lora: {r: 16, lora_alpha: 32}"},
    Counterpart{"finetuning_type", "training_config.lora",
                "a map: lora: {r: 16}; leave it out for all weights"},
    Counterpart{"full_finetuning", "training_config.lora", "leave lora out to train all weights"},
    Counterpart{"peft_config", "training_config.lora", ""},
    Counterpart{"use_peft", "training_config.lora", "a map: lora: {r: 16}"},
    Counterpart{"lora_target", "training_config.lora.target_modules", "a list, or all-linear"},
    Counterpart{"lora_attn_modules", "training_config.lora.target_modules",
                "a list, or all-linear"},
    Counterpart{"apply_lora_to_mlp", "training_config.lora.target_modules",
                "a list, or all-linear"},
    Counterpart{"stage", "", "leave it out: it is always fine-tuning on answers (sft)"},
    Counterpart{"do_train", "", "leave it out: it is what trainwardd does"},
    Counterpart{"trust_remote_code", "", no_code},
    Counterpart{"weight_tying", "training_config.tie_weights", ""},

    // What computes.
    Counterpart{"attn_implementation", "device_config.attention", "auto, plain or fused"},
    Counterpart{"flash_attention", "device_config.attention", "auto, plain or fused"},
    Counterpart{"flash_attn", "device_config.attention", "auto, plain or fused"},
    Counterpart{"tf32", "training_config.precision", "f32 or bf16"},
    Counterpart{"compile", "", "leave it out: the model is always compiled"},
    Counterpart{"torch_compile", "", "leave it out: the model is always compiled"},
    Counterpart{"deepspeed", "device_config.mesh_shape",
                "[1, N] shares a step; weights are not split"},
    Counterpart{"fsdp", "device_config.mesh_shape", "[1, N] shares a step; weights are not split"},
    Counterpart{"ddp_timeout", "", one_process},
    Counterpart{"training", "training_config", ""},
};

}  // namespace

std::span<const Counterpart> all_hints() { return hints; }

std::string hint_for(std::string_view theirs) {
  const auto* const hint = std::ranges::find(hints, theirs, &Counterpart::theirs);
  if (hint == hints.end()) return "";
  if (hint->ours.empty()) return fmt::format("there is no such key here: {}", hint->says);
  return fmt::format("here it is {}{}", hint->ours,
                     hint->says.empty() ? "" : fmt::format(" ({})", hint->says));
}

}  // namespace trainward::config::elsewhere
