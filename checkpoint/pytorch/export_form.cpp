#include "checkpoint/pytorch/export_form.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "checkpoint/pytorch/pickle/hex.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

using Views = std::map<std::string_view, const TensorView*>;

json::object reference(const TensorView& tensor, std::int64_t vocabulary) {
  json::object object;
  object["$tensor"] = tensor.info.name;
  const std::vector<std::int64_t>& shape = tensor.info.shape;
  const std::string_view name = tensor.info.name;
  const bool has_rows = name.starts_with("core.emb.") || name.starts_with("ar.proj.") ||
                        name.starts_with("sat.proj.");
  if (vocabulary > 0 && has_rows && !shape.empty() && shape[0] > vocabulary) {
    object["rows"] = vocabulary;
  }
  return object;
}

json::object ordered(json::object entries) {
  json::object object;
  object["$ordered"] = std::move(entries);
  return object;
}

// Where PyTorch lists a parameter of AGILLM-3: own parameters first, then modules as they are made.
std::tuple<int, std::int64_t, std::size_t, std::string> rank_of(std::string_view name) {
  constexpr std::array in_block{"ln1.weight",      "ln1.bias",     "ln2.weight",   "ln2.bias",
                                "mha.U",           "mha.q.weight", "mha.k.weight", "mha.v.weight",
                                "mha.proj.weight", "ff.0.weight",  "ff.0.bias",    "ff.2.weight",
                                "ff.2.bias"};
  constexpr std::array outside{"emb.weight", "proj.weight", "proj.bias", "gate.weight",
                               "gate.bias",  "ln.weight",   "ln.bias"};
  if (name.starts_with("blocks.")) {
    const std::string_view rest = name.substr(7);
    std::int64_t block = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), block);
    if (error == std::errc() && end != rest.data() + rest.size() && *end == '.') {
      const std::string_view part = rest.substr(static_cast<std::size_t>(end - rest.data()) + 1);
      const auto* const at = std::find(in_block.begin(), in_block.end(), part);
      return {1, block, static_cast<std::size_t>(at - in_block.begin()), std::string(name)};
    }
  }
  const auto* const at = std::find(outside.begin(), outside.end(), name);
  return {name == "emb.weight" ? 0 : 2, 0, static_cast<std::size_t>(at - outside.begin()),
          std::string(name)};
}

class AgillmForm {
 public:
  AgillmForm(const TrainingState& state, const std::vector<TensorView>& model,
             const std::vector<TensorView>& optimizer, std::int64_t vocabulary)
      : state_(state), vocabulary_(vocabulary) {
    for (const TensorView& tensor : model) model_[tensor.info.name] = &tensor;
    for (const TensorView& tensor : optimizer) moments_[tensor.info.name] = &tensor;
  }

  json::value make() {
    json::object root;
    json::array groups;
    json::array entries;
    for (const std::string_view module : {"core", "ar", "sat"}) add(module, root, groups, entries);
    json::object moments;
    moments["$dict"] = std::move(entries);
    json::object optimizer;
    optimizer["state"] = std::move(moments);
    optimizer["param_groups"] = std::move(groups);
    root["opt"] = std::move(optimizer);
    root["scaler"] = json::object();
    root["cfg"] = sizes();
    root["tie_weights"] = false;
    root["step"] = json::object{{"$state", "step"}};
    root["seen_tok"] = json::object{{"$state", "tokens"}};
    return root;
  }

 private:
  void add(std::string_view module, json::object& root, json::array& groups, json::array& entries) {
    std::vector<std::string_view> names;
    const std::string prefix = fmt::format("{}.", module);
    for (const auto& [name, view] : model_) {
      if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    }
    std::sort(names.begin(), names.end(),
              [](std::string_view a, std::string_view b) { return rank_of(a) < rank_of(b); });
    if (names.empty()) return;
    json::object tensors;
    json::array indices;
    for (const std::string_view name : names) {
      const std::string full = prefix + std::string(name);
      tensors[name] = reference(*model_[full], vocabulary_);
      if (json::object moments = moments_of(full); !moments.empty()) {
        entries.push_back(json::array{next_index_, std::move(moments)});
      }
      indices.push_back(next_index_++);
    }
    root[module] = ordered(std::move(tensors));
    groups.push_back(group(module == "core" ? 5e-5 : 2e-4, std::move(indices)));
  }

  json::object moments_of(const std::string& parameter) {
    json::object moments;
    for (const std::string_view moment : {"exp_avg", "exp_avg_sq"}) {
      const auto found = moments_.find(fmt::format("{}.{}", parameter, moment));
      if (found == moments_.end()) continue;
      if (moments.empty()) moments["step"] = steps();
      moments[moment] = reference(*found->second, vocabulary_);
    }
    return moments;
  }

  [[nodiscard]] json::object steps() const {
    const auto count = static_cast<float>(int_or(state_.extra, "optimizer_steps", state_.step));
    json::object object;
    object["$scalar"] = "F32";
    object["hex"] = to_hex(std::as_bytes(std::span(&count, 1)));
    return object;
  }

  static json::object group(double rate, json::array indices) {
    json::object betas;
    betas["$tuple"] = json::array{0.9, 0.999};
    json::object object;
    object["lr"] = rate;
    object["betas"] = std::move(betas);
    object["eps"] = 1e-8;
    object["weight_decay"] = 0.01;
    object["amsgrad"] = false;
    object["params"] = std::move(indices);
    return object;
  }

  // {d, layers, heads, rank} by the shapes.
  [[nodiscard]] json::object sizes() const {
    json::object sizes;
    const auto embedding = model_.find("core.emb.weight");
    const auto rank = model_.find("core.blocks.0.mha.U");
    std::int64_t layers = 0;
    while (model_.contains(fmt::format("core.blocks.{}.ln1.weight", layers))) ++layers;
    if (embedding == model_.end() || embedding->second->info.shape.size() != 2) return sizes;
    const std::int64_t width = embedding->second->info.shape[1];
    sizes["d"] = width;
    sizes["layers"] = layers;
    if (rank == model_.end() || rank->second->info.shape.size() != 2) return sizes;
    const std::vector<std::int64_t>& shape = rank->second->info.shape;
    if (shape[0] > 0) sizes["heads"] = width / shape[0];
    sizes["rank"] = shape[1];
    return sizes;
  }

  const TrainingState& state_;
  std::int64_t vocabulary_;
  Views model_;
  Views moments_;
  std::int64_t next_index_ = 0;
};

json::object all_of(const std::vector<TensorView>& views) {
  json::object entries;
  for (const TensorView& view : views) entries[view.info.name] = reference(view, 0);
  return ordered(std::move(entries));
}

}  // namespace

json::value form_for(const TrainingState& state, const std::vector<TensorView>& model,
                     const std::vector<TensorView>& optimizer, std::int64_t vocabulary) {
  const bool agillm = std::any_of(model.begin(), model.end(), [](const TensorView& view) {
    return view.info.name == "core.emb.weight";
  });
  if (agillm) return AgillmForm(state, model, optimizer, vocabulary).make();
  json::object root;
  root["model"] = all_of(model);
  if (!optimizer.empty()) root["optimizer_state"] = all_of(optimizer);
  root["step"] = json::object{{"$state", "step"}};
  root["tokens"] = json::object{{"$state", "tokens"}};
  return root;
}

}  // namespace trainward::checkpoint::pytorch
