#include "trainer/generate/model_source.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/huggingface/model_record.hpp"
#include "checkpoint/huggingface/unusable.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/llama/config.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
namespace hf = checkpoint::huggingface;
using checkpoint::DType;

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

// Where the values of parameters that are kept here lie.
void point_into(const ParameterTable& table, const cpu::Memory& memory, ModelWeights& weights) {
  const auto* floats = reinterpret_cast<const float*>(memory.data());
  for (std::size_t i = 0; i < table.infos.size(); ++i) {
    const ParameterInfo& info = table.infos[i];
    if (info.trained()) weights.values[i] = {floats + info.offset, graph::Element::f32};
  }
}

void point_into(const ParameterTable& table, const FixedValues& fixed, ModelWeights& weights) {
  for (std::size_t i = 0; i < table.infos.size(); ++i) {
    const ParameterInfo& info = table.infos[i];
    if (!info.trained()) weights.values[i] = {fixed.of(i), info.element};
  }
}

std::vector<checkpoint::TensorTarget> targets_of(const ParameterTable& table,
                                                 const cpu::Memory& memory) {
  std::vector<checkpoint::TensorTarget> targets;
  for (const ParameterInfo& info : table.infos) {
    if (!info.trained()) continue;
    const std::span<std::byte> bytes{memory.data() + info.offset * sizeof(float),
                                     info.size() * sizeof(float)};
    targets.push_back({{info.name, DType::f32, info.shape}, bytes});
  }
  return targets;
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
  if (!ok) return propagate(ok);
  return source;
}

bool ModelSource::has_adapters() const {
  return adapter_.has_value() || (reader_ && facts().contains("lora"));
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
                    : fmt::format("is an adapter of '{}', which is no folder here", named),
                path_.string(), "name the folder of that model with --base");
  }
  return open_base(base.value_or(named));
}

Status ModelSource::open_base(const fs::path& folder) {
  auto opened = BaseModel::open(folder.string());
  if (!opened) return propagate(opened);
  base_ = *std::move(opened);
  add_folder(base_->folder().path());
  add_ends(base_->folder().config());
  if (const auto& settings = base_->folder().generation_config(); settings) add_ends(*settings);
  return {};
}

void ModelSource::add_folder(const fs::path& folder) {
  if (!folder.empty() && hf::is_there(folder)) folders_.push_back(folder);
}

// A number, or a list of them.
void ModelSource::add_ends(const json::object& config) {
  const auto add = [&](const json::value& value) {
    const std::int64_t* id = value.if_int64();
    if (id == nullptr || *id < 0 || *id > INT32_MAX) return;
    const auto token = static_cast<std::int32_t>(*id);
    if (std::ranges::find(end_tokens_, token) == end_tokens_.end()) end_tokens_.push_back(token);
  };
  const json::value* found = config.if_contains("eos_token_id");
  if (found == nullptr) return;
  if (!found->is_array()) return add(*found);
  for (const json::value& each : found->get_array()) add(each);
}

Result<LoadedModel> ModelSource::load(std::int64_t vocabulary) const {
  if (reader_) {
    auto loaded = load_checkpoint(vocabulary);
    if (!loaded && loaded.error().where == "model") loaded.error().where = path_.string();
    return loaded;
  }
  const ModelSpec& model = base_->model();
  if (vocabulary > model.vocabulary) {
    return fail(
        ErrorKind::usage,
        fmt::format("the model has {} tokens, and the tokenizer {}", model.vocabulary, vocabulary),
        base_->folder().path().string(), "name the tokenizer that belongs to the model");
  }
  if (!adapter_) return load_folder();
  auto lora = peft_lora();
  if (!lora) return propagate(lora);
  ModelSpec adapted = model;
  adapted.lora = *lora;
  return load_adapters(adapted);
}

Result<LoadedModel> ModelSource::load_checkpoint(std::int64_t vocabulary) const {
  auto model = model_of(*reader_, vocabulary);
  if (!model) return propagate(model);
  if (model->lora.used()) {
    model->frozen = base_->model().frozen;
    return load_adapters(*model);
  }
  const ParameterTable table = make_parameter_table(*model, 2);
  LoadedModel loaded{{*model, std::vector<ModelWeights::Value>(table.infos.size())}, {}, {}};
  auto memory = cpu::Memory::allocate(table.elements * sizeof(float));
  if (!memory) return propagate(memory);
  loaded.own = *std::move(memory);
  if (auto ok = reader_->read_into(targets_of(table, loaded.own), {}); !ok) return propagate(ok);
  point_into(table, loaded.own, loaded.weights);
  return loaded;
}

Result<LoadedModel> ModelSource::load_folder() const {
  const ModelSpec& model = base_->model();
  ParameterTable table = make_parameter_table(model, 2);
  // Nothing is trained here, so everything can stay as the files have it.
  for (ParameterInfo& info : table.infos) {
    if (info.role != Role::trained) continue;
    info.role = Role::frozen;
    if (info.shape.size() > 1) info.element = model.frozen;
  }
  auto fixed = FixedValues::make(model, table, base_.get(), 0);
  if (!fixed) return propagate(fixed);
  LoadedModel loaded{
      {model, std::vector<ModelWeights::Value>(table.infos.size())}, {}, *std::move(fixed)};
  point_into(table, loaded.fixed, loaded.weights);
  return loaded;
}

Result<LoadedModel> ModelSource::load_adapters(const ModelSpec& model) const {
  const ParameterTable table = make_parameter_table(model, 2);
  auto fixed = FixedValues::make(model, table, base_.get(), 0);
  if (!fixed) return propagate(fixed);
  auto memory = cpu::Memory::allocate(table.elements * sizeof(float));
  if (!memory) return propagate(memory);
  LoadedModel loaded{{model, std::vector<ModelWeights::Value>(table.infos.size())},
                     *std::move(memory),
                     *std::move(fixed)};
  if (auto ok = fill_adapters(table, loaded.own); !ok) return propagate(ok);
  point_into(table, loaded.own, loaded.weights);
  point_into(table, loaded.fixed, loaded.weights);
  return loaded;
}

Status ModelSource::fill_adapters(const ParameterTable& table, const cpu::Memory& memory) const {
  if (reader_) return reader_->read_into(targets_of(table, memory), {});
  return fill_from_peft(table, reinterpret_cast<float*>(memory.data()));
}

// Each adapter has its place in the model, and each place its adapter.
Status ModelSource::fill_from_peft(const ParameterTable& table, float* at) const {
  const auto misfit = [&](std::string what) {
    return fail(ErrorKind::usage, std::move(what), path_.string(),
                "name the base model that it was trained on with --base");
  };
  std::size_t used = 0;
  for (const ParameterInfo& info : table.infos) {
    if (!info.trained()) continue;
    const auto& tensors = adapter_->tensors;
    const auto found = std::ranges::find_if(tensors, [&](const checkpoint::TensorView& tensor) {
      return tensor.info.name == info.name;
    });
    if (found == tensors.end()) return misfit(fmt::format("has no tensor '{}'", info.name));
    if (found->info.shape != info.shape) {
      return misfit(fmt::format("'{}' is [{}], where the model needs [{}]", info.name,
                                fmt::join(found->info.shape, ", "), fmt::join(info.shape, ", ")));
    }
    const std::span<float> values(at + info.offset, info.size());
    checkpoint::convert_floats(found->info.dtype, found->bytes, DType::f32,
                               std::as_writable_bytes(values));
    ++used;
  }
  if (used == adapter_->tensors.size()) return {};
  return misfit("has adapters for layers that the model does not have");
}

// Which layers are adapted is read off the tensors: target_modules may be a pattern.
Result<LoraSpec> ModelSource::peft_lora() const {
  const hf::LoraSettings& settings = adapter_->config.lora;
  LoraSpec lora{settings.r, settings.alpha, settings.dropout, settings.rank_stabilised, 0};
  constexpr std::string_view layers = "model.layers.";
  for (const checkpoint::TensorView& tensor : adapter_->tensors) {
    std::string_view place = hf::module_of(tensor.info.name).value_or("");
    const std::size_t number = place.find('.', std::min(place.size(), layers.size()));
    place.remove_prefix(number == std::string_view::npos ? place.size() : number + 1);
    auto targets = lora_targets(place);
    if (!targets) {
      targets.error().where = fmt::format("{}: {}", path_.string(), tensor.info.name);
      return propagate(targets);
    }
    lora.targets |= *targets;
  }
  return lora;
}

}  // namespace trainward::trainer
