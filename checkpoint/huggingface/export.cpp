#include "checkpoint/huggingface/export.hpp"

#include <set>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/huggingface/adapter/adapter.hpp"
#include "checkpoint/huggingface/export_parts.hpp"
#include "checkpoint/huggingface/writing/checked_source.hpp"
#include "checkpoint/huggingface/writing/checkpoint_model.hpp"
#include "checkpoint/huggingface/writing/model_image.hpp"
#include "checkpoint/huggingface/writing/new_folder.hpp"
#include "checkpoint/huggingface/writing/written_config.hpp"
#include "checkpoint/progress.hpp"
#include "common/base/text.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t row_padding = 32;

tl::unexpected<Error> does_not_fit(const TensorInfo& info, std::string what) {
  return fail(ErrorKind::corrupt, fmt::format("tensor '{}' {}", info.name, std::move(what)), {},
              "the checkpoint's own configuration does not describe its tensors");
}

// Without the rows that only fill up tiles.
Result<TensorSource> unpadded(TensorSource source, const TensorNames& names,
                              std::int64_t vocabulary) {
  if (!names.is_by_token(source.info.name)) return source;
  const std::int64_t rows = source.info.shape.empty() ? 0 : source.info.shape.front();
  const std::int64_t padded = (vocabulary + row_padding - 1) / row_padding * row_padding;
  if (rows < vocabulary || rows > padded) {
    return does_not_fit(source.info,
                        fmt::format("has {} rows for a vocabulary of {}", rows, vocabulary));
  }
  return first_rows(std::move(source), vocabulary);
}

// The base, where its tensors' types and the tokenizer are taken from: not needed when both are
// given.
Result<std::optional<ModelFolder>> find_base(const ModelRecord& record,
                                             const ExportOptions& options) {
  if (!options.base && !record.base) return std::nullopt;
  auto base = ModelFolder::open(options.base ? *options.base : record.base->folder);
  if (base) return std::move(*base);
  if (!options.base && options.tokenizer) return std::nullopt;
  if (!options.base) {
    base.error().hint =
        "the run's base model no longer exists there: name it with --base FOLDER, "
        "or a folder with the tokenizer's files with --tokenizer FOLDER";
  }
  return propagate(base);
}

// A model that was trained keeps the shapes it came with.
Status check_against_base(const TensorInfo& info, const std::optional<ModelFolder>& base) {
  const TensorView* found = base ? base->find(info.name) : nullptr;
  if (found == nullptr || found->info.shape == info.shape) return {};
  return fail(ErrorKind::usage,
              fmt::format("tensor '{}' is [{}] there and [{}] in the checkpoint", info.name,
                          fmt::join(found->info.shape, ","), fmt::join(info.shape, ",")),
              base->path().string(), "name the base model that the run began from");
}

// A run of an older version may have trained on a part of its base model.
void add_what_is_lost(const ModelFolder& base, const std::vector<TensorSource>& tensors,
                      const TensorNames& names, std::vector<std::string>& notes) {
  std::set<std::string_view> there;
  for (const TensorSource& tensor : tensors) there.insert(tensor.info.name);
  std::vector<std::string_view> lost;
  for (const TensorView& tensor : base.tensors()) {
    const std::string_view name = tensor.info.name;
    const bool copied = there.contains(name) || name == "lm_head.weight" || names.is_computed(name);
    if (!copied) lost.push_back(name);
  }
  if (lost.empty()) return;
  notes.push_back(fmt::format(
      "{} of the base model {} not in it, such as {}: the run was not "
      "trained with them",
      count(std::ssize(lost), "tensor"), lost.size() == 1 ? "is" : "are", lost.front()));
}

Result<std::vector<TensorSource>> model_tensors(const CheckpointModel& checkpoint,
                                                const std::optional<ModelFolder>& base,
                                                const ExportOptions& options, DType usual) {
  auto vocabulary = get_int(checkpoint.record.config, "vocab_size");
  if (!vocabulary) {
    vocabulary.error().where = (checkpoint.folder / name::state).string() + ": config";
    return propagate(vocabulary);
  }
  const TensorNames& names = checkpoint.record.names;
  std::vector<TensorSource> tensors;
  for (const TensorSource& source : checkpoint.tensors) {
    if (source.info.name == "lm_head.weight" && is_tied(checkpoint.record.config)) continue;
    auto cut = unpadded(source, names, *vocabulary);
    if (!cut) return propagate(cut);
    const bool plain = base && base->find(cut->info.name) != nullptr;
    if (!plain) cut->info.name.insert(0, names.prefix);
    if (auto ok = check_against_base(cut->info, base); !ok) return propagate(ok);
    const TensorView* known = base ? base->find(cut->info.name) : nullptr;
    const DType type = options.type ? *options.type : known ? known->info.dtype : usual;
    const bool floats = is_float(cut->info.dtype) && is_float(type);
    tensors.push_back(floats ? rounded(std::move(*cut), type) : std::move(*cut));
  }
  sort_in_reading_order(tensors);
  return tensors;
}

CardSubject subject_of(const CheckpointModel& checkpoint, const fs::path& folder) {
  const ModelRecord& record = checkpoint.record;
  CardSubject subject;
  subject.title = last_component(folder);
  subject.kind = "the whole model";
  subject.state = &checkpoint.files.state;
  subject.hub_name = hub_name_in(record.config);
  subject.end_tokens = record.end_tokens;
  if (record.base) {
    subject.base = record.base->folder.string();
    subject.base_digest = record.base->digest;
  }
  if (record.lora) subject.lora = &*record.lora;
  return subject;
}

// Checks what is copied, then writes it: `image` reads from the checkpoint.
Status check_and_write(const CheckpointModel& checkpoint, const fs::path& folder,
                       const Image& image, const IoOptions& io) {
  const std::uint64_t before = checkpoint.bytes();
  const std::uint64_t total = before + image.bytes();
  if (auto ok = checkpoint.check(io, total); !ok) return ok;
  return write_new_folder(folder, image, {part_of(io.progress, before, total), io.make_queue});
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the analyzer loses a std::function's copy

Result<Exported> export_whole(const CheckpointModel& checkpoint, const fs::path& folder,
                              const ExportOptions& options) {
  auto base = find_base(checkpoint.record, options);
  if (!base) return propagate(base);
  const json::object& config = checkpoint.record.config;
  const DType usual = options.type ? *options.type
                      : *base      ? main_type((*base)->tensors())
                                   : type_in(config).value_or(DType::f32);
  ModelContents contents;
  contents.config = config;
  contents.type = usual;
  contents.end_tokens = checkpoint.record.end_tokens;
  if (!options.tokenizer) contents.chat_template = checkpoint.record.chat_template;
  if (options.tokenizer) {
    contents.side_files = *options.tokenizer;
  } else if (*base) {
    contents.side_files = (*base)->path();
  }
  auto tensors = model_tensors(checkpoint, *base, options, usual);
  if (!tensors) return propagate(tensors);
  contents.tensors = std::move(*tensors);
  contents.card = model_card(subject_of(checkpoint, folder), options.card);
  auto image = model_image(contents, options.shard_bytes, folder);
  if (!image) return propagate(image);
  if (auto ok = check_and_write(checkpoint, folder, *image, options.io); !ok) return propagate(ok);
  std::vector<std::string> notes = notes_of(contents);
  if (*base) add_what_is_lost(**base, contents.tensors, checkpoint.record.names, notes);
  return Exported{false, contents.tensors.size(), image->bytes(), std::move(notes)};
}

// An adapter's folder has no place for tokens that end an answer.
std::vector<std::string> adapter_notes(const ModelRecord& record) {
  const auto known = written_generation(std::nullopt, record.config, {});
  if (written_generation(std::nullopt, record.config, record.end_tokens) == known) return {};
  return {
      fmt::format("answers end with token {}, which the base model's configuration does not "
                  "say: tell the server (stop_token_ids), or write one model with `trainwardctl "
                  "ckpt merge`",
                  fmt::join(record.end_tokens, ", "))};
}

Result<Exported> export_adapter(const CheckpointModel& checkpoint, const fs::path& folder,
                                const ExportOptions& options) {
  const ModelRecord& record = checkpoint.record;
  std::vector<TensorInfo> infos;
  std::vector<TensorSource> tensors;
  for (TensorSource source : checkpoint.tensors) {
    infos.push_back(source.info);
    source.info.name.insert(0, peft_prefix);
    tensors.push_back(options.type ? rounded(std::move(source), *options.type) : std::move(source));
  }
  if (auto ok = check_adapter_tensors(infos, record.lora->r, checkpoint.folder.string()); !ok) {
    return propagate(ok);
  }
  const fs::path base = options.base ? *options.base : record.base ? record.base->folder : "";
  const std::string config = adapter_config_text({*record.lora, base.string()});
  CardSubject subject = subject_of(checkpoint, folder);
  subject.kind = "a LoRA adapter, to be loaded on top of the base model";
  subject.library = "peft";
  Image image;
  auto added = add_section(image, "adapter_model", tensors, 0, {{"format", "pt"}}, folder);
  if (!added) return propagate(added);
  image.files.push_back({"adapter_config.json", text_file(config)});
  // Where other tools put it, too: the base's own is not how this adapter was asked.
  if (!record.chat_template.empty()) {
    image.files.push_back({template_file, text_file(record.chat_template + "\n")});
  }
  image.files.push_back({"README.md", text_file(model_card(subject, options.card))});
  if (auto ok = check_and_write(checkpoint, folder, image, options.io); !ok) return propagate(ok);
  return Exported{true, tensors.size(), image.bytes(), adapter_notes(record)};
}

}  // namespace

Result<Exported> export_model(const fs::path& checkpoint, const fs::path& folder,
                              const ExportOptions& options) {
  const fs::path target = without_slash(folder);
  if (auto ok = check_options(target, options); !ok) return propagate(ok);
  auto model = CheckpointModel::open(checkpoint);
  if (!model) return propagate(model);
  return model->record.lora ? export_adapter(*model, target, options)
                            : export_whole(*model, target, options);
}

}  // namespace trainward::checkpoint::huggingface
