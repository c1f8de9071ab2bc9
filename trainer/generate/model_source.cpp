#include "trainer/generate/model_source.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/format/names.hpp"
#include "checkpoint/huggingface/model/model_record.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/edition.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
namespace hf = checkpoint::huggingface;

tl::unexpected<Error> no_model(std::string what) {
  return fail(
      ErrorKind::usage, std::move(what), "model",
      fmt::format("text can be generated from checkpoints of {} models", architecture_titles()));
}

// By the name of its table of tokens; a checkpoint of adapters has none, and says it.
const Architecture* architecture_in(const Shapes& shapes, const json::object& facts) {
  const Architecture* by_name = architecture_of(shapes);
  if (by_name != nullptr || !facts.contains("lora")) return by_name;
  auto found = find_architecture(string_or(facts, "architecture", ""));
  return found ? architectures()[*found] : nullptr;
}

}  // namespace

Result<ModelSpec> model_of(const std::vector<checkpoint::TensorInfo>& tensors,
                           const json::object& facts, std::int64_t vocabulary) {
  const Shapes shapes = shapes_of(tensors);
  const Architecture* architecture = architecture_in(shapes, facts);
  if (architecture == nullptr) return no_model("there is no embedding of a model known here");
  auto model = architecture->sizes(shapes, facts, vocabulary);
  if (!model) return model;
  const auto embedding = shapes.find(architecture->token_embedding());
  if (embedding != shapes.end() && model->padded_vocabulary() != embedding->second[0]) {
    return no_model(fmt::format("it has {} rows for tokens, the tokenizer's {} ids need {}",
                                embedding->second[0], vocabulary, model->padded_vocabulary()));
  }
  return model;
}

Result<ModelSpec> model_of(const checkpoint::Reader& checkpoint, std::int64_t vocabulary) {
  const auto facts = get_object(checkpoint.state().extra, model_facts);
  return model_of(checkpoint.model(), facts ? **facts : json::object(), vocabulary);
}

std::vector<std::int32_t> end_tokens_in(const json::object& settings) {
  std::vector<std::int32_t> tokens;
  const auto add = [&](const json::value& value) {
    const std::int64_t* id = value.if_int64();
    if (id != nullptr && *id >= 0 && *id < max_vocabulary) {
      tokens.push_back(static_cast<std::int32_t>(*id));
    }
  };
  const json::value* found = settings.if_contains("eos_token_id");
  if (found == nullptr) return tokens;
  if (!found->is_array()) {
    add(*found);
    return tokens;
  }
  for (const json::value& each : found->get_array()) add(each);
  return tokens;
}

Result<ModelSource> ModelSource::open(const fs::path& path, const std::optional<fs::path>& base) {
  ModelSource source;
  source.path_ = path;
  Status ok;
  if (hf::is_there(path / checkpoint::name::manifest)) {
    ok = source.open_checkpoint();
    if (ok && source.has_adapters()) {
      auto record = hf::record_of(source.reader_->state());
      if (!record) return propagate(record);
      if (!record->base) {
        return fail(ErrorKind::usage, "holds adapters and does not say of which model",
                    path.string());
      }
      ok = source.open_base(base.value_or(record->base->folder));
      if (ok) ok = hf::check_base(source.base_->folder(), *record->base);
    }
  } else if (hf::is_there(path / "adapter_config.json")) {
    ok = source.open_adapter(base);
  } else {
    ok = source.open_base(path);
  }
  if (ok && base && !source.has_adapters()) {
    ok = fail(ErrorKind::usage, "holds a whole model, which needs no base", path.string(),
              "name only the model, or a folder of adapters beside the base");
  }
  // If it is not one of our checkpoints, the user has to repair it or name another.
  if (!ok && !source.reader_ && ok.error().kind != ErrorKind::transient) {
    ok.error().kind = ErrorKind::usage;
  }
  if (!ok) return propagate(ok);
  return source;
}

bool ModelSource::has_adapters() const {
  return adapter_.has_value() || (reader_ && facts().contains("lora"));
}

int ModelSource::edition() const {
  return reader_ ? edition_of(reader_->state()) : current_edition;
}

std::int64_t ModelSource::step() const { return reader_ ? reader_->state().step : 0; }

const json::object& ModelSource::facts() const {
  static const json::object nothing;
  const auto found = get_object(reader_->state().extra, model_facts);
  return found ? **found : nothing;
}

Status ModelSource::open_checkpoint() {
  auto reader = checkpoint::Reader::open(path_);
  if (!reader) return propagate(reader);
  reader_ = *std::move(reader);
  look_for_words(facts());
  return {};
}

// What a run that began from a folder says of it; the folder may be gone.
void ModelSource::look_for_words(const json::object& facts) {
  if (const auto config = get_object(facts, "config"); config) add_ends(**config);
  prompt_format_ = string_or(facts, "prompt_format", "");
  if (const auto given = get_object(facts, "template_variables"); given) {
    template_variables_ = **given;
  }
  if (const auto ends = get_array(facts, "end_tokens"); ends) {
    add_ends({{"eos_token_id", **ends}});
  }
  const auto base = get_object(facts, "base_model");
  if (!base || facts.contains("lora")) return;  // a base is opened anyway
  const fs::path folder = string_or(**base, "folder", "");
  add_folder(folder);
  constexpr std::string_view settings = "generation_config.json";
  if (!hf::is_there(folder / settings)) return;
  if (const auto config = hf::read_config(folder / settings); config) add_ends(*config);
}

Status ModelSource::open_adapter(const std::optional<fs::path>& base) {
  auto adapter = hf::read_adapter(path_);
  if (!adapter) return propagate(adapter);
  adapter_ = *std::move(adapter);
  add_folder(path_);
  const std::string& named = adapter_->config.base;
  if (!base && (named.empty() || !hf::is_there(named))) {
    return fail(ErrorKind::usage,
                named.empty()
                    ? "does not say which model it is an adapter of"
                    : fmt::format("is an adapter of '{}', which is not a folder here", named),
                path_.string(), "name the folder of that model with --base");
  }
  return open_base(base.value_or(named));
}

Status ModelSource::open_base(const fs::path& folder) {
  auto opened = BaseModel::open(folder.string(), edition());
  if (!opened) return propagate(opened);
  if (auto ok = (*opened)->check_numbers(); !ok) return ok;
  base_ = *std::move(opened);
  add_folder(base_->folder().path());
  add_ends(base_->folder().config());
  if (const auto& settings = base_->folder().generation_config(); settings) add_ends(*settings);
  return {};
}

void ModelSource::add_folder(const fs::path& folder) {
  if (!folder.empty() && hf::is_there(folder)) folders_.push_back(folder);
}

void ModelSource::add_ends(const json::object& config) {
  for (const std::int32_t token : end_tokens_in(config)) {
    if (std::ranges::find(end_tokens_, token) == end_tokens_.end()) end_tokens_.push_back(token);
  }
}

}  // namespace trainward::trainer
