// merge() of export.hpp: adapters and their base as one model.
#include <cstring>
#include <set>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/huggingface/adapter/adapter.hpp"
#include "checkpoint/huggingface/adapter/merged_source.hpp"
#include "checkpoint/huggingface/export.hpp"
#include "checkpoint/huggingface/export_parts.hpp"
#include "checkpoint/huggingface/model/finite.hpp"
#include "checkpoint/huggingface/model/folder_path.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "checkpoint/huggingface/writing/checked_source.hpp"
#include "checkpoint/huggingface/writing/checkpoint_model.hpp"
#include "checkpoint/huggingface/writing/model_image.hpp"
#include "checkpoint/huggingface/writing/new_folder.hpp"
#include "checkpoint/huggingface/writing/written_config.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

// What is merged, wherever it came from.
struct Merging {
  LoraPairs pairs;
  LoraSettings lora;
  std::optional<BaseModel> recorded;  // PEFT records no digest
  std::string base;                   // folder or name
  std::vector<std::int64_t> end_tokens = {};
  std::string chat_template = {};
  std::optional<TrainingState> state = {};
};

Result<Merging> from_checkpoint(const fs::path& folder, const IoOptions& io) {
  auto checkpoint = CheckpointModel::open(folder);
  if (!checkpoint) return propagate(checkpoint);
  ModelRecord& record = checkpoint->record;
  if (!record.lora) {
    return fail(ErrorKind::usage, "holds every weight, no adapter: there is nothing to merge",
                folder.string(), "write it with `trainwardctl ckpt export --hf`");
  }
  std::vector<TensorInfo> infos;
  for (const TensorSource& source : checkpoint->tensors) infos.push_back(source.info);
  auto fits = check_adapter_tensors(infos, record.lora->r, folder.string());
  if (fits) fits = checkpoint->check(io, checkpoint->bytes());
  if (!fits) return propagate(fits);
  auto pairs = read_pairs(checkpoint->tensors);
  if (!pairs) return propagate(pairs);
  Merging merging{std::move(*pairs),    *record.lora,           record.base, {}, record.end_tokens,
                  record.chat_template, checkpoint->files.state};
  if (record.base) merging.base = record.base->folder.string();
  return merging;
}

Result<Merging> from_adapter(const fs::path& folder) {
  auto adapter = read_adapter(folder);
  if (!adapter) return propagate(adapter);
  std::vector<TensorSource> sources;
  for (const TensorView& tensor : adapter->tensors) sources.push_back(source_of(tensor));
  auto pairs = read_pairs(sources);
  if (!pairs) return propagate(pairs);
  auto chat = read_chat_template(folder, {});
  if (!chat) return propagate(chat);
  std::string asked = std::move(*chat).value_or("");
  if (asked.ends_with('\n')) asked.pop_back();  // which is no part of a template
  return Merging{std::move(*pairs), adapter->config.lora, std::nullopt, adapter->config.base, {},
                 std::move(asked)};
}

Result<ModelFolder> open_base(const Merging& merging, const ExportOptions& options) {
  if (!options.base && merging.base.empty()) {
    return fail(ErrorKind::usage, "the adapter does not say which model it is for", {},
                "name it with --base FOLDER");
  }
  auto base = ModelFolder::open(options.base ? *options.base : folder_path(merging.base));
  if (!base) {
    if (!options.base) base.error().hint += "; or name the base model with --base FOLDER";
    return base;
  }
  if (!merging.recorded || options.any_base) return base;
  auto same = check_base(*base, *merging.recorded, options.io.progress);
  if (same) return base;
  if (same.error().kind == ErrorKind::usage) {
    same.error().hint += ", or insist on this one with --any-base";
  }
  return propagate(same);
}

// A tied model's head is its embedding; a copy of it is left out, another one is no copy.
Status check_head(const ModelFolder& base) {
  const TensorView* head = base.find("lm_head.weight");
  const TensorView* embedding = base.find("model.embed_tokens.weight");
  if (head == nullptr || embedding == nullptr) return {};
  const bool same =
      head->bytes.size() == embedding->bytes.size() && head->info.dtype == embedding->info.dtype &&
      std::memcmp(head->bytes.data(), embedding->bytes.data(), head->bytes.size()) == 0;
  if (same) return {};
  return fail(ErrorKind::usage,
              "ties its head to the embedding, but lm_head.weight in its files is another",
              base.path().string(),
              "set tie_word_embeddings to false in its config.json if both are wanted, or remove "
              "lm_head.weight from its files");
}

Result<std::vector<TensorSource>> merged_tensors(const ModelFolder& base, const Merging& merging,
                                                 const ExportOptions& options) {
  const bool tied = is_tied(base.config());
  if (tied) {
    if (auto ok = check_head(base); !ok) return propagate(ok);
  }
  std::vector<const TensorView*> all;
  for (const TensorView& tensor : base.tensors()) all.push_back(&tensor);
  if (auto ok = check_finite(all, base.path().string()); !ok) return propagate(ok);
  std::set<std::string_view> used;
  std::vector<TensorSource> tensors;
  for (const TensorView& tensor : base.tensors()) {
    if (tied && tensor.info.name == "lm_head.weight") continue;
    const bool floats = is_float(tensor.info.dtype);
    const DType type = floats && options.type ? *options.type : tensor.info.dtype;
    std::string_view module = tensor.info.name;
    constexpr std::string_view weight = ".weight";
    if (module.ends_with(weight)) module.remove_suffix(weight.size());
    const auto pair = merging.pairs.find(module);
    if (pair == merging.pairs.end() || module.size() == tensor.info.name.size()) {
      tensors.push_back(floats ? rounded(source_of(tensor), type) : source_of(tensor));
      continue;
    }
    auto sum = merged(tensor, pair->second, merging.lora.scale(), type);
    if (!sum) return propagate(sum);
    used.insert(pair->first);
    tensors.push_back(std::move(*sum));
  }
  for (const auto& [module, pair] : merging.pairs) {
    if (used.contains(module)) continue;
    return fail(ErrorKind::usage,
                fmt::format("holds no '{}.weight', for which there is an adapter", module),
                base.path().string(), "name the base model that the adapter was trained on");
  }
  sort_in_reading_order(tensors);
  return tensors;
}

CardSubject subject_of(const Merging& merging, const ModelFolder& base, const fs::path& folder) {
  CardSubject subject;
  subject.title = last_component(folder);
  subject.kind = "the whole model, the adapter merged into it";
  subject.state = merging.state ? &*merging.state : nullptr;
  subject.base = base.path().string();
  if (merging.recorded) subject.base_digest = merging.recorded->digest;
  subject.lora = &merging.lora;
  subject.end_tokens = merging.end_tokens;
  subject.hub_name = hub_name_in(base.config());
  return subject;
}

}  // namespace

Result<Exported> merge(const fs::path& from, const fs::path& folder, const ExportOptions& options) {
  const fs::path target = without_slash(folder);
  if (auto ok = check_options(target, options); !ok) return propagate(ok);
  auto merging =
      is_there(from / name::manifest) ? from_checkpoint(from, options.io) : from_adapter(from);
  if (!merging) return propagate(merging);
  auto base = open_base(*merging, options);
  if (!base) return propagate(base);
  ModelContents contents;
  contents.config = base->config();
  contents.type = options.type.value_or(main_type(base->tensors()));
  contents.side_files = options.tokenizer.value_or(base->path());
  contents.end_tokens = merging->end_tokens;
  if (!options.tokenizer) contents.chat_template = merging->chat_template;
  auto tensors = merged_tensors(*base, *merging, options);
  if (!tensors) return propagate(tensors);
  contents.tensors = std::move(*tensors);
  contents.card = model_card(subject_of(*merging, *base, target), options.card);
  auto image = model_image(contents, options.shard_bytes, target);
  if (!image) return propagate(image);
  if (auto ok = write_new_folder(target, *image, options.io); !ok) return propagate(ok);
  return Exported{false, contents.tensors.size(), image->bytes(), notes_of(contents)};
}

}  // namespace trainward::checkpoint::huggingface
