#include "trainer/model/huggingface/base_model.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "checkpoint/huggingface/model/finite.hpp"
#include "checkpoint/huggingface/model/folder_path.hpp"
#include "common/base/text.hpp"
#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

namespace hf = checkpoint::huggingface;

// Where tied, some files hold the embedding a second time.
Status check_tied(const hf::ModelFolder& folder, std::optional<BaseWeights::Tensor> embedding) {
  const checkpoint::TensorView* head = folder.find("lm_head.weight");
  if (head == nullptr || !embedding) return {};
  const bool same = std::ranges::equal(head->bytes, embedding->bytes);
  if (same) return {};
  return fail(ErrorKind::usage,
              "tie_word_embeddings is true, and the files hold an lm_head.weight that is not the "
              "embedding",
              folder.path().string(),
              "write \"tie_word_embeddings\": false into its config.json to train that head, or "
              "take lm_head.weight out of its files");
}

// The 7 of model.layers.7.mlp.up_proj.weight, where `layers` is "model.layers.".
std::optional<std::int64_t> layer_of(std::string_view name, std::string_view layers) {
  if (!name.starts_with(layers)) return std::nullopt;
  name.remove_prefix(layers.size());
  std::int64_t layer = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
  if (error != std::errc() || end == name.data() + name.size() || *end != '.') return std::nullopt;
  return layer;
}

// Which sizes the class has for want of others; the first thing to look at where shapes differ.
std::string sizes_not_said(const Architecture& architecture, const json::object& config) {
  std::string text;
  for (const auto& [key, usual] : architecture.usual_sizes()) {
    if (config.contains(key)) continue;
    text += fmt::format("; it does not say {}, for which {} is usual", key, usual);
  }
  return text;
}

// The user has to name another folder or repair this one, unless it may be readable later.
tl::unexpected<Error> unusable(Error error) {
  if (error.kind != ErrorKind::transient) error.kind = ErrorKind::usage;
  return tl::unexpected(std::move(error));
}

}  // namespace

Result<std::unique_ptr<BaseModel>> BaseModel::open(std::string_view folder, int edition) {
  auto opened = hf::ModelFolder::open(hf::folder_path(folder));
  if (!opened) return unusable(std::move(opened).error());
  std::unique_ptr<BaseModel> base(new BaseModel(*std::move(opened)));
  if (auto ok = base->look(edition); !ok) return unusable(std::move(ok).error());
  return base;
}

Status BaseModel::check_left_out() const {
  std::string layers = architecture_of(model_).parameters(model_, 2).layer_prefix;
  layers.resize(layers.find("{}"));
  std::vector<std::string_view> strange;
  std::int64_t last_layer = -1;
  for (const std::string& name : left_out_) {
    if (names_.is_computed(name)) continue;
    strange.push_back(name);
    last_layer = std::max(last_layer, layer_of(names_.own(name), layers).value_or(-1));
  }
  if (strange.empty()) return {};
  const std::string where = folder_.path().string();
  if (last_layer >= model_.layers) {
    return fail(
        ErrorKind::usage,
        fmt::format("holds {} layers, and its config.json says {}", last_layer + 1, model_.layers),
        where, "fetch the folder again: files and config.json are of two models");
  }
  return fail(
      ErrorKind::usage,
      fmt::format("holds '{}', for which a model of its config.json has no place ({} in all)",
                  strange.front(), count(std::ssize(strange), "tensor")),
      where, "fetch the folder again: files and config.json are of two models");
}

Status BaseModel::check_numbers() const {
  std::vector<const checkpoint::TensorView*> used;
  for (const checkpoint::TensorView& tensor : folder_.tensors()) {
    if (std::ranges::find(left_out_, tensor.info.name) == left_out_.end()) used.push_back(&tensor);
  }
  return hf::check_finite(used, folder_.path().string());
}

Status BaseModel::look(int edition) {
  auto model =
      read_model_config(folder_.config(), (folder_.path() / "config.json").string(), edition);
  if (!model) return propagate(model);
  model_ = *model;
  const Architecture& architecture = architecture_of(model_);
  names_ = architecture.tensor_names();
  if (model_.tied) {
    if (auto ok = check_tied(folder_, find(architecture.token_embedding())); !ok) return ok;
  }
  std::set<std::string, std::less<>> known;
  const ParameterTable table = make_parameter_table(model_, 2);
  for (const ParameterInfo& info : table.infos) known.insert(info.name);
  bool all_bf16 = true;
  for (const checkpoint::TensorView& tensor : folder_.tensors()) {
    if (!known.contains(names_.own(tensor.info.name))) {
      if (tensor.info.name != "lm_head.weight") left_out_.push_back(tensor.info.name);
    } else if (tensor.info.shape.size() > 1) {
      all_bf16 = all_bf16 && tensor.info.dtype == checkpoint::DType::bf16;
    }
  }
  model_.frozen = all_bf16 ? graph::Element::bf16 : graph::Element::f32;
  // All of them now, and not the first one hours later.
  for (const ParameterInfo& info : table.infos) {
    if (info.role == Role::table) continue;
    if (auto tensor = base_tensor(*this, info); !tensor) {
      tensor.error().where = folder_.path().string();
      tensor.error().hint += sizes_not_said(architecture, folder_.config());
      return propagate(tensor);
    }
  }
  return edition > 1 ? check_left_out() : Status();
}

std::optional<BaseWeights::Tensor> BaseModel::find(std::string_view name) const {
  const checkpoint::TensorView* tensor = folder_.find(name);
  if (tensor == nullptr) tensor = folder_.find(names_.prefix + std::string(name));
  if (tensor == nullptr) return std::nullopt;
  return Tensor{tensor->info.dtype, tensor->info.shape, tensor->bytes};
}

}  // namespace trainward::trainer
