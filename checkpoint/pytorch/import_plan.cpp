#include "checkpoint/pytorch/import_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace trainward::checkpoint::pytorch {
namespace {

struct Parameter {
  std::string name;
  const Tensor* tensor = nullptr;
  std::int64_t rows = 0;  // padded; 0: as it is
};

// "_orig_mod." marks a compiled module; PyTorch puts it before or inside the name.
std::string without_compiled_mark(std::string key) {
  constexpr std::string_view mark = "_orig_mod.";
  for (std::size_t at = key.find(mark); at != std::string::npos; at = key.find(mark, at)) {
    key.erase(at, mark.size());
  }
  return key;
}

// Our name for an entry of the state dict of `module`. The oldest files call the heads
// "ar_head.weight", later ones "ar_head.proj.weight".
std::string canonical(std::string_view module, const std::string& key) {
  std::string rest = without_compiled_mark(key);
  std::string owner(module);
  for (const std::string_view head : {"ar", "sat"}) {
    const std::string prefix = fmt::format("{}_head.", head);
    if (!rest.starts_with(prefix)) continue;
    rest.erase(0, prefix.size());
    owner = head;
  }
  if (owner != "core" && (rest == "weight" || rest == "bias")) rest = "proj." + rest;
  return owner + "." + rest;
}

// One parameter has a handful of moments. A file could let every index refer to one huge
// dictionary.
constexpr std::size_t most_moments = 64;

constexpr std::int64_t most_rows = 1LL << 40U;  // of a vocabulary

bool has_vocabulary_rows(std::string_view name) {
  constexpr std::array names{"core.emb.weight", "ar.proj.weight", "ar.proj.bias", "sat.proj.weight",
                             "sat.proj.bias"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Planner {
 public:
  Planner(const Tree& tree, std::int64_t row_multiple) : tree_(tree), row_multiple_(row_multiple) {}

  ImportPlan run() {
    const NodeId core = tree_.find(tree_.root, "core");
    plan_.agillm = has_tensors(core) && (tree_.find(tree_.root, "ar") != no_node ||
                                         tree_.find(tree_.root, "cfg") != no_node);
    if (plan_.agillm) {
      plan_agillm(core);
    } else {
      plan_other();
    }
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool has_tensors(NodeId id) const {
    const Dict* dict = tree_.as<Dict>(id);
    return dict != nullptr &&
           std::any_of(dict->entries.begin(), dict->entries.end(), [&](const auto& entry) {
             return tree_.tensor(entry.second) != nullptr &&
                    tree_.as<std::string>(entry.first) != nullptr;
           });
  }

  // The place of a root entry, when there is one of this name.
  [[nodiscard]] std::optional<std::size_t> root_entry(std::string_view key) const {
    const Dict* root = tree_.as<Dict>(tree_.root);
    if (root == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < root->entries.size(); ++i) {
      const std::string* text = tree_.as<std::string>(root->entries[i].first);
      if (text != nullptr && *text == key) return i;
    }
    return std::nullopt;
  }

  void count(std::string_view key, Counter counter, std::int64_t& value) {
    const auto index = root_entry(key);
    if (!index) return;
    const auto* number = tree_.as<std::int64_t>(tree_.as<Dict>(tree_.root)->entries[*index].second);
    if (number == nullptr || *number < 0) return;
    value = *number;
    plan_.counters[{tree_.root, *index}] = counter;
  }

  // --- AGILLM-3 ------------------------------------------------------------------------------

  void plan_agillm(NodeId core) {
    find_vocabulary(core);
    std::vector<std::vector<Parameter>> modules;
    for (const std::string_view name : {"core", "ar", "sat"}) {
      NodeId dict = tree_.find(tree_.root, name);
      if (dict == no_node) dict = tree_.find(tree_.root, fmt::format("{}_head", name));
      if (tree_.as<Dict>(dict) != nullptr) modules.push_back(name_parameters(dict, name));
    }
    count("step", Counter::step, plan_.step);
    count("seen_tok", Counter::tokens, plan_.tokens);
    plan_optimizer("opt", modules);
  }

  void find_vocabulary(NodeId core) {
    for (const auto& [key, value] : tree_.as<Dict>(core)->entries) {
      const std::string* text = tree_.as<std::string>(key);
      const Tensor* tensor = tree_.tensor(value);
      if (text == nullptr || tensor == nullptr || tensor->shape.empty()) continue;
      if (canonical("core", *text) != "core.emb.weight") continue;
      if (tensor->shape[0] > most_rows || row_multiple_ > most_rows) continue;
      plan_.vocabulary = tensor->shape[0];
      const std::int64_t missing =
          (row_multiple_ - plan_.vocabulary % row_multiple_) % row_multiple_;
      plan_.padded_vocabulary = plan_.vocabulary + missing;
    }
  }

  std::vector<Parameter> name_parameters(NodeId dict_id, std::string_view module) {
    const Dict& dict = *tree_.as<Dict>(dict_id);
    std::vector<Parameter> parameters;
    for (std::size_t i = 0; i < dict.entries.size(); ++i) {
      const std::string* key = tree_.as<std::string>(dict.entries[i].first);
      const Tensor* tensor = tree_.tensor(dict.entries[i].second);
      if (key == nullptr || tensor == nullptr) continue;
      Parameter parameter{module.empty() ? *key : canonical(module, *key), tensor, 0};
      if (!module.empty() && has_vocabulary_rows(parameter.name) && !tensor->shape.empty() &&
          tensor->shape[0] == plan_.vocabulary && plan_.padded_vocabulary != plan_.vocabulary) {
        parameter.rows = plan_.padded_vocabulary;
      }
      plan_.tensors[{dict_id, i}] = {parameter.name, false, parameter.rows};
      parameters.push_back(std::move(parameter));
    }
    return parameters;
  }

  // --- any other file ------------------------------------------------------------------------

  void plan_other() {
    NodeId model = no_node;
    for (const std::string_view key : {"model", "state_dict", "model_state_dict"}) {
      if (model == no_node && has_tensors(tree_.find(tree_.root, key))) {
        model = tree_.find(tree_.root, key);
      }
    }
    if (model == no_node && has_tensors(tree_.root)) model = tree_.root;
    std::vector<std::vector<Parameter>> modules;
    if (model != no_node) modules.push_back(name_parameters(model, ""));
    for (const std::string_view key : {"epoch", "iteration", "global_step", "step"}) {
      count(key, Counter::step, plan_.step);
    }
    keep_one_step();
    for (const std::string_view key : {"optimizer", "optimizer_state_dict", "opt"}) {
      plan_optimizer(key, modules);
    }
  }

  // Only the last of several counters moves with the step; an epoch beside a step stays as it is.
  void keep_one_step() {
    std::optional<PlaceInTree> chosen;
    for (const std::string_view key : {"epoch", "iteration", "global_step", "step"}) {
      const auto index = root_entry(key);
      if (index && plan_.counters.contains({tree_.root, *index})) chosen = {tree_.root, *index};
    }
    std::erase_if(plan_.counters, [&](const auto& entry) {
      return entry.second == Counter::step && entry.first != chosen;
    });
  }

  // --- the optimizer -------------------------------------------------------------------------

  // state: {index: {name: value}}; the indices run over the parameters of all groups.
  void plan_optimizer(std::string_view key, const std::vector<std::vector<Parameter>>& modules) {
    const auto entry = root_entry(key);
    if (!entry) return;
    plan_.optimizer_paths.push_back(std::string(key) + ".");
    const NodeId optimizer = tree_.as<Dict>(tree_.root)->entries[*entry].second;
    const auto by_index = match_groups(optimizer, modules);
    const Dict* state = tree_.as<Dict>(tree_.find(optimizer, "state"));
    if (state == nullptr || state->entries.empty()) return;
    const bool fits = !by_index.empty() && shapes_fit(*state, by_index);
    if (!fits) {
      plan_.notes.push_back(fmt::format(
          "the order of '{}' does not tell which parameter its state belongs to; the state is kept "
          "under its own names",
          key));
    }
    for (const auto& [index, values] : state->entries) {
      const auto* number = tree_.as<std::int64_t>(index);
      if (number == nullptr || tree_.as<Dict>(values) == nullptr) continue;
      const auto found = by_index.find(*number);
      name_state(values, fits && found != by_index.end() ? found->second : nullptr);
    }
  }

  [[nodiscard]] std::map<std::int64_t, const Parameter*> match_groups(
      NodeId optimizer, const std::vector<std::vector<Parameter>>& modules) const {
    std::map<std::int64_t, const Parameter*> by_index;
    const List* groups = tree_.as<List>(tree_.find(optimizer, "param_groups"));
    if (groups == nullptr || groups->items.empty() || modules.empty()) return by_index;
    if (groups->items.size() > modules.size()) return by_index;
    const bool all_in_one = groups->items.size() == 1 && modules.size() > 1;
    std::vector<const Parameter*> before;
    std::size_t module = 0;
    for (const NodeId group : groups->items) {
      const List* indices = tree_.as<List>(tree_.find(group, "params"));
      if (indices == nullptr) return {};
      std::vector<const Parameter*> parameters;
      // A module whose weights are all tied to earlier ones has no group.
      do {
        if (module == modules.size()) return {};
        parameters = all_in_one && indices->items.size() != modules[0].size()
                         ? pointers(modules, 0, modules.size())
                         : pointers(modules, module, 1);
        if (indices->items.size() != parameters.size()) drop_tied(parameters, before);
        ++module;
      } while (parameters.empty() && !indices->items.empty());
      if (indices->items.size() != parameters.size()) return {};
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto* index = tree_.as<std::int64_t>(indices->items[i]);
        if (index == nullptr || !by_index.emplace(*index, parameters[i]).second) return {};
      }
      before.insert(before.end(), parameters.begin(), parameters.end());
    }
    return by_index;
  }

  static std::vector<const Parameter*> pointers(const std::vector<std::vector<Parameter>>& modules,
                                                std::size_t first, std::size_t count) {
    std::vector<const Parameter*> all;
    for (std::size_t m = first; m < first + count; ++m) {
      for (const Parameter& parameter : modules[m]) all.push_back(&parameter);
    }
    return all;
  }

  // A tied weight is one parameter: it counts where it comes first.
  static void drop_tied(std::vector<const Parameter*>& parameters,
                        const std::vector<const Parameter*>& before) {
    using View = std::pair<std::uint32_t, std::uint64_t>;  // a storage and where in it
    std::map<View, const Parameter*> first;
    const auto view = [](const Parameter* p) { return View(p->tensor->storage, p->tensor->begin); };
    for (const Parameter* parameter : before) first.emplace(view(parameter), parameter);
    std::erase_if(parameters, [&](const Parameter* parameter) {
      return !first.emplace(view(parameter), parameter).second;
    });
  }

  [[nodiscard]] bool shapes_fit(const Dict& state,
                                const std::map<std::int64_t, const Parameter*>& by_index) const {
    for (const auto& [index, values] : state.entries) {
      const auto* number = tree_.as<std::int64_t>(index);
      const Dict* moments = tree_.as<Dict>(values);
      if (number == nullptr || moments == nullptr || moments->entries.size() > most_moments ||
          !by_index.contains(*number)) {
        return false;
      }
      const Parameter& parameter = *by_index.at(*number);
      for (const auto& [name, value] : moments->entries) {
        const Tensor* tensor = tree_.tensor(value);
        if (tensor != nullptr && !tensor->shape.empty() &&
            tensor->shape != parameter.tensor->shape) {
          return false;
        }
      }
    }
    return true;
  }

  void name_state(NodeId values, const Parameter* parameter) {
    const Dict& dict = *tree_.as<Dict>(values);
    if (dict.entries.size() > most_moments) return;
    for (std::size_t i = 0; i < dict.entries.size(); ++i) {
      const std::string* name = tree_.as<std::string>(dict.entries[i].first);
      if (name == nullptr) continue;
      if (*name == "step") {
        plan_.counters[{values, i}] = Counter::parameter_steps;
      } else if (const Tensor* tensor = tree_.tensor(dict.entries[i].second);
                 parameter != nullptr && tensor != nullptr && !tensor->shape.empty()) {
        plan_.tensors[{values, i}] = {parameter->name + "." + *name, true, parameter->rows};
      }
    }
  }

  const Tree& tree_;
  std::int64_t row_multiple_;
  ImportPlan plan_;
};

}  // namespace

ImportPlan plan_import(const Tree& tree, std::int64_t row_multiple) {
  return Planner(tree, row_multiple).run();
}

}  // namespace trainward::checkpoint::pytorch
