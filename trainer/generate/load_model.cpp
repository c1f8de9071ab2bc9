#include <algorithm>
#include <span>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "trainer/generate/model_source.hpp"
#include "trainer/model/llama/lora_config.hpp"

namespace trainward::trainer {
namespace {

namespace hf = checkpoint::huggingface;
using checkpoint::DType;

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
