#include "supervisor/config/elsewhere/names.hpp"

#include <algorithm>
#include <array>

namespace trainward::config::elsewhere {
namespace {

constexpr std::string_view own_optimizer = "the optimizer is always AdamW";
constexpr std::string_view said_to_wandb = "`wandb sync` is told it (docs/tracking.md)";
constexpr std::string_view at_the_right_places =
    "checkpoints lie in STATE_DIR/runs/NAME/checkpoints, whatever it says";
constexpr std::string_view batch_of_evaluations =
    "evaluations take training_config.batch_size rows at a time, for which the model is compiled";

constexpr std::array names{
    // How long, how large, how fast.
    Name{"max_steps", "training_config.steps"},
    Name{"num_steps", "training_config.steps"},
    Name{"num_train_epochs", "training_config.num_epochs"},
    Name{"epochs", "training_config.num_epochs"},
    Name{"max_length", "training_config.block_size"},
    Name{"max_seq_len", "training_config.block_size"},
    Name{"max_seq_length", "training_config.block_size"},
    Name{"max_sequence_length", "training_config.block_size"},
    Name{"gradient_accumulation_steps", "training_config.accumulation"},
    Name{"validation_batch_size", "", How::nothing, batch_of_evaluations},
    Name{"eval_batch_size", "", How::nothing, batch_of_evaluations},
    Name{"lr", "training_config.learning_rate"},
    Name{"max_lr", "training_config.learning_rate", How::at_the_end},
    Name{"min_lr", "training_config.final_learning_rate_share", How::at_the_end},
    Name{"scheduler_type", "training_config.schedule", How::word},
    Name{"lr_scheduler_type", "training_config.schedule", How::word},
    Name{"scheduler_config", "", How::at_the_end},
    Name{"scheduler_config.max_lr", "training_config.learning_rate", How::at_the_end},
    Name{"scheduler_config.min_lr", "training_config.final_learning_rate_share", How::at_the_end},
    Name{"scheduler_config.warmup_steps", "training_config.warmup_steps"},
    Name{"scheduler_config.hold_steps", "training_config.hold_steps"},
    Name{"adam_beta1", "training_config.beta1"},
    Name{"adam_beta2", "training_config.beta2"},
    Name{"adam_epsilon", "training_config.epsilon"},
    Name{"clip_grad_norm_max_norm", "training_config.gradient_clip", How::clip},
    Name{"max_grad_norm", "training_config.gradient_clip", How::clip},
    Name{"grad_clip", "training_config.gradient_clip", How::clip},
    Name{"use_clip_grad_norm", "training_config.gradient_clip", How::at_the_end},
    Name{"dropout_prob", "training_config.dropout"},
    Name{"gradient_checkpointing", "training_config.recompute"},
    Name{"runner_type", "training_config.recompute", How::word},
    Name{"dtype", "training_config.precision", How::word},
    Name{"optimizer", "", How::inside},
    Name{"optimizer.type", "optimizer", How::word},
    Name{"optimizer.lr", "training_config.learning_rate"},
    Name{"optimizer.learning_rate", "training_config.learning_rate"},
    Name{"optimizer.beta1", "training_config.beta1"},
    Name{"optimizer.beta2", "training_config.beta2"},
    Name{"optimizer.epsilon", "training_config.epsilon"},
    Name{"optimizer.eps", "training_config.epsilon"},
    Name{"optimizer.weight_decay", "training_config.weight_decay"},
    Name{"optimizer.amsgrad", "", How::agreed, "AdamW has no such variant here"},
    Name{"optimizer.kahan_summation", "", How::agreed, "weights are f32 here, and need none"},
    Name{"optimizer.use_kahan_summation", "", How::agreed, "weights are f32 here, and need none"},
    Name{"optimizer.stochastic_rounding", "", How::agreed, "weights are f32 here, and need none"},
    Name{"optim", "optimizer", How::word},
    Name{"use_moreh_adamw", "", How::nothing, own_optimizer},
    Name{"use_kahan_summation", "", How::agreed, "weights are f32 here, and need none"},

    // When something is looked at or kept.
    Name{"eval_every", "training_config.evaluate_every"},
    Name{"eval_steps", "training_config.evaluate_every"},
    Name{"eval_interval", "training_config.evaluate_every"},
    Name{"val_steps_freq", "training_config.evaluate_every"},
    Name{"validation_frequency", "training_config.evaluate_every"},
    Name{"model_save_interval", "training_config.checkpoint_every"},
    Name{"checkpoint_frequency", "training_config.checkpoint_every"},
    Name{"save_interval", "training_config.checkpoint_every"},
    Name{"save_steps", "training_config.checkpoint_every"},
    Name{"save_strategy", "save_strategy", How::word},
    Name{"save_optim", "", How::nothing, "checkpoints always hold all that a resume needs"},
    Name{"keep_last_n", "checkpoints.keep"},
    Name{"save_total_limit", "checkpoints.keep"},
    Name{"keep_best_n", "training_config.keep_best"},
    Name{"early_stopping_patience", "training_config.patience"},
    Name{"checkpoint_metric", "checkpoint_metric", How::word},
    Name{"checkpoint_metric_mode", "checkpoint_metric_mode", How::word},
    Name{"resume_from_checkpoint", "", How::nothing,
         "the newest whole checkpoint is always resumed from"},
    Name{"resume_option", "resume_option", How::word},
    Name{"epoch_freq", "", How::nothing, "what happens now and then is counted in steps"},
    Name{"log_interval", "logging_config.log_every"},
    Name{"logging_steps", "logging_config.log_every"},
    Name{"steps_freq", "logging_config.log_every"},
    Name{"log_level", "", How::nothing, "the log's level stands at the top of the file"},
    Name{"print_examples", "", How::nothing, "samples.prompts says what is shown"},
    Name{"logging", "", How::spread},
    Name{"metrics", "", How::spread},
    Name{"checkpoint", "", How::spread},
    Name{"tensorboard", "tracking.tensorboard"},
    Name{"mlflow", "tracking.mlflow"},
    Name{"logging_dir", "tracking.tensorboard", How::at_the_end},
    Name{"report_to", "", How::at_the_end},
    Name{"log_with", "", How::at_the_end},
    Name{"use_tensorboard", "", How::at_the_end},
    Name{"use_wandb", "", How::at_the_end},
    Name{"wandb_project", "", How::nothing, said_to_wandb},
    Name{"wandb_run_name", "", How::nothing, said_to_wandb},
    Name{"wandb_tags", "", How::nothing, said_to_wandb},
    Name{"wandb_watch_mode", "", How::nothing, "gradients and weights are not shown"},
    Name{"wandb_log_freq", "", How::nothing, "tracking.every says how often a step is shown"},
    Name{"project_name", "", How::nothing, "a program is named by its entry"},
    Name{"deterministic", "", How::nothing, "every run is"},
    Name{"eval_config", "", How::inside},
    Name{"eval_config.temperature", "training_config.samples.temperature"},
    Name{"eval_config.top_k", "training_config.samples.top_k"},
    Name{"eval_config.top_p", "training_config.samples.top_p"},
    Name{"eval_config.repetition_penalty", "training_config.samples.repetition_penalty"},
    Name{"eval_config.max_new_tokens", "training_config.samples.tokens"},
    Name{"eval_config.max_tokens", "training_config.samples.tokens"},
    Name{"eval_config.prompts", "training_config.samples.prompts"},
    Name{"eval_config.eval_every", "training_config.evaluate_every"},
    Name{"eval_config.batch_size", "", How::nothing, batch_of_evaluations},

    // What it is trained on.
    Name{"train_data", "training_config.data"},
    Name{"data_path", "training_config.data"},
    Name{"val_data", "training_config.validation_data"},
    Name{"data_config", "", How::inside},
    Name{"data_config.train_data", "training_config.data"},
    Name{"data_config.data_path", "training_config.data"},
    Name{"data_config.val_data", "training_config.validation_data"},
    Name{"data_config.tokenizer", "training_config.tokenizer"},
    Name{"data_config.tokenizer_path", "training_config.tokenizer"},
    Name{"data_config.max_length", "training_config.block_size"},
    Name{"data_config.column_mapping", "training_config.column_mapping"},
    Name{"custom_dataset", "", How::inside},
    Name{"custom_dataset.file_type", "file_type", How::word},
    Name{"custom_dataset.train_dataset_path", "training_config.data"},
    Name{"custom_dataset.val_dataset_path", "training_config.validation_data"},
    Name{"custom_dataset.format", "training_config.prompt_format", How::word},
    Name{"custom_dataset.column_mapping", "training_config.column_mapping"},
    Name{"dataset_id", "training_config.data", How::at_the_end},
    Name{"tokenizer_path", "training_config.tokenizer"},
    Name{"tokenizer_type", "", How::at_the_end},
    Name{"vocab_size", "training_config.vocabulary"},
    Name{"ignored_index", "", How::nothing, "what is no target is known by its place"},

    // What is trained.
    Name{"model_type", "", How::at_the_end},
    Name{"model_config", "training_config.model_config", How::at_the_end},
    Name{"model_name", "training_config.base_model", How::at_the_end},
    Name{"model_name_or_path", "training_config.base_model", How::at_the_end},
    Name{"model_path", "training_config.base_model", How::at_the_end},
    Name{"weights_path", "training_config.base_model", How::at_the_end},
    Name{"transformer_config", "", How::at_the_end},
    Name{"transformer_config.model_type", "", How::at_the_end},
    Name{"transformer_config.embedding_dim", "training_config.llama.hidden"},
    Name{"transformer_config.hidden_size", "training_config.llama.hidden"},
    Name{"transformer_config.intermediate_dim", "training_config.llama.intermediate"},
    Name{"transformer_config.intermediate_size", "training_config.llama.intermediate"},
    Name{"transformer_config.num_blocks", "training_config.llama.layers"},
    Name{"transformer_config.num_hidden_layers", "training_config.llama.layers"},
    Name{"transformer_config.num_heads", "training_config.llama.heads"},
    Name{"transformer_config.num_attention_heads", "training_config.llama.heads"},
    Name{"transformer_config.num_groups", "training_config.llama.kv_heads"},
    Name{"transformer_config.num_key_value_heads", "training_config.llama.kv_heads"},
    Name{"transformer_config.theta", "training_config.llama.rope_theta"},
    Name{"transformer_config.weight_tying", "training_config.llama.tie_word_embeddings", How::word},
    Name{"transformer_config.max_sequence_length", "training_config.llama.max_position_embeddings"},
    Name{"transformer_config.vocab_size", "training_config.vocabulary"},
    Name{"transformer_config.dropout_prob", "training_config.dropout"},
    Name{"transformer_config.runner_type", "training_config.recompute", How::word},
    Name{"transformer_config.positional_embedding_type", "positional_embedding_type", How::word},
    Name{"transformer_config.rope_scaling", "training_config.llama.rope_scaling", How::inside},
    Name{"rope_scaling.scaling_factor", "training_config.llama.rope_scaling.factor"},
    Name{"rope_scaling.factor", "training_config.llama.rope_scaling.factor"},
    Name{"rope_scaling.type", "training_config.llama.rope_scaling.type"},
    Name{"rope_scaling.rope_type", "training_config.llama.rope_scaling.type"},
    Name{"rope_scaling.low_freq_factor", "training_config.llama.rope_scaling.low_freq_factor"},
    Name{"rope_scaling.high_freq_factor", "training_config.llama.rope_scaling.high_freq_factor"},
    Name{"rope_scaling.original_context_length",
         "training_config.llama.rope_scaling.original_max_position_embeddings"},
    Name{"rope_scaling.original_max_position_embeddings",
         "training_config.llama.rope_scaling.original_max_position_embeddings"},
    Name{"lora_config", "training_config.lora", How::inside},
    Name{"lora_config.r", "training_config.lora.r"},
    Name{"lora_config.rank", "training_config.lora.r"},
    Name{"lora_config.lora_alpha", "training_config.lora.lora_alpha"},
    Name{"lora_config.alpha", "training_config.lora.lora_alpha"},
    Name{"lora_config.lora_dropout", "training_config.lora.lora_dropout"},
    Name{"lora_config.dropout", "training_config.lora.lora_dropout"},
    Name{"lora_config.target_modules", "training_config.lora.target_modules"},
    Name{"lora_config.use_rslora", "training_config.lora.use_rslora"},
    Name{"lora_config.task_type", "", How::nothing, "it is always CAUSAL_LM"},
    Name{"lora_config.bias", "bias", How::word},
    Name{"lora_config.use_dora", "", How::agreed, "adapters are plain LoRA's"},
    Name{"lora_config.modules_to_save", "", How::agreed, "only adapters are trained with LoRA"},
    Name{"lora_config.layers_to_transform", "", How::agreed, "every block has adapters"},
    Name{"lora_config.rank_pattern", "", How::agreed, "all adapters have one rank, lora.r"},
    Name{"lora_config.alpha_pattern", "", How::agreed, "all adapters have one lora.lora_alpha"},
    Name{"lora_r", "training_config.lora.r"},
    Name{"lora_alpha", "training_config.lora.lora_alpha"},
    Name{"lora_dropout", "training_config.lora.lora_dropout"},
    Name{"lora_target_modules", "training_config.lora.target_modules"},
    Name{"lora_task_type", "", How::nothing, "it is always CAUSAL_LM"},
    Name{"training_type", "", How::at_the_end},

    // What computes.
    Name{"enable_tp", "", How::agreed,
         "devices share a step by its batch, not the model: device_config.mesh_shape"},
    Name{"device_ids", "", How::agreed,
         "boards are found, and named to the program: leave it out, or see 'board'"},
    Name{"use_tt", "device_config.plugin", How::at_the_end},
    Name{"mesh_axis_names", "", How::nothing, "the one axis that is used is that of the batch"},
    Name{"model_sharding_patterns", "", How::agreed,
         "devices share a step by its batch, not the model: device_config.mesh_shape"},
};

constexpr std::array words{
    Word{"training_config.schedule", "identity", "constant"},
    Word{"training_config.schedule", "constant", "constant"},
    Word{"training_config.schedule", "warmup_linear", "linear"},
    Word{"training_config.schedule", "linear", "linear"},
    Word{"training_config.schedule", "cosine", "cosine"},
    Word{"training_config.recompute", "memory_efficient", "true"},
    Word{"training_config.recompute", "default", "false"},
    Word{"training_config.precision", "torch.bfloat16", "bf16"},
    Word{"training_config.precision", "bfloat16", "bf16"},
    Word{"training_config.precision", "bf16", "bf16"},
    Word{"training_config.precision", "torch.float32", "f32"},
    Word{"training_config.precision", "float32", "f32"},
    Word{"training_config.precision", "f32", "f32"},
    Word{"training_config.prompt_format", "alpaca", "alpaca"},
    Word{"training_config.prompt_format", "chat", "auto"},
    Word{"training_config.llama.tie_word_embeddings", "enabled", "true"},
    Word{"training_config.llama.tie_word_embeddings", "true", "true"},
    Word{"training_config.llama.tie_word_embeddings", "disabled", "false"},
    Word{"training_config.llama.tie_word_embeddings", "false", "false"},
    Word{"optimizer", "AdamW", ""},
    Word{"optimizer", "MorehAdamW", ""},
    Word{"optimizer", "adamw", ""},
    Word{"optimizer", "adamw_torch", ""},
    Word{"optimizer", "adamw_torch_fused", ""},
    Word{"save_strategy", "steps", ""},
    Word{"save_strategy", "step", ""},
    Word{"checkpoint_metric", "eval/loss", ""},
    Word{"checkpoint_metric", "eval_loss", ""},
    Word{"checkpoint_metric_mode", "min", ""},
    Word{"resume_option", "last", ""},
    Word{"file_type", "json", ""},
    Word{"file_type", "jsonl", ""},
    Word{"positional_embedding_type", "rope", ""},
    Word{"bias", "none", ""},
};

}  // namespace

std::span<const Name> all_names() { return names; }

const Name* find_name(std::string_view theirs) {
  const auto* const found = std::find_if(names.begin(), names.end(),
                                         [&](const Name& name) { return name.theirs == theirs; });
  return found == names.end() ? nullptr : found;
}

const Word* find_word(std::string_view ours, std::string_view theirs) {
  const auto* const found = std::find_if(words.begin(), words.end(), [&](const Word& word) {
    return word.ours == ours && word.theirs == theirs;
  });
  return found == words.end() ? nullptr : found;
}

std::vector<std::string_view> known_words(std::string_view ours) {
  std::vector<std::string_view> known;
  for (const Word& word : words) {
    if (word.ours == ours) known.push_back(word.theirs);
  }
  return known;
}

}  // namespace trainward::config::elsewhere
