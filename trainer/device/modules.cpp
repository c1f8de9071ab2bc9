#include "trainer/device/modules.hpp"

#include <algorithm>

#include "trainer/device/head_pieces.hpp"
#include "trainer/device/optimizer_graphs.hpp"
#include "trainer/model/columns.hpp"

namespace trainward::trainer {
namespace {

using graph::Graph;
using graph::Type;
using stablehlo::Module;
using Reuses = std::vector<std::optional<std::size_t>>;

// Why attention cannot be one operation; empty: it can.
std::string obstacle_to_fusing(const TrainingSpec& part) {
  constexpr std::int64_t most_width = 128;  // forward and backward, in cuDNN 9 on every generation
  const std::int64_t width = part.model.head_width();
  if (part.precision != graph::Precision::bf16) return "it needs precision bf16";
  if (part.model.score_width() != width) return "the rank is smaller than the width of a head";
  if (width % 8 != 0 || width > most_width) {
    return fmt::format("heads are {} wide; it takes multiples of 8 up to {}", width, most_width);
  }
  if (part.segmented) return "rows hold several texts, and it sees all of a row";
  if (part.block_size % 64 != 0) {
    return fmt::format("block_size {} is not a multiple of 64", part.block_size);
  }
  return {};
}

class ModuleMaker {
 public:
  ModuleMaker(const TrainingSpec& part, const DeviceUse& use)
      : part_(part),
        use_(use),
        table_(share_of(make_parameter_table(part.model, part.positions()), part.columns)) {}

  Result<DeviceModules> make() {
    if (use_.attention != AttentionUse::plain) {
      const std::string obstacle = obstacle_to_fusing(part_);
      if (!obstacle.empty() && use_.attention == AttentionUse::fused) {
        return fail(ErrorKind::usage, "attention cannot be fused: " + obstacle,
                    "device_config.attention", "let it be auto, which takes what there is");
      }
      part_.fused_attention = obstacle.empty();
    }
    Result<Segments> segments = make_segments(part_);
    if (!segments) return propagate(segments);
    DeviceModules all;
    all.kept = segments->kept.size();
    make_blocks(*segments, all);
    if (part_.columns > 1) {
      all.join_squares = module("join_squares", make_exchange({Type{}}, {{part_.columns}}), {0});
    }
    if (use_.placement == Placement::device) make_outer(*segments, all.outer.emplace());
    if (error_) return tl::unexpected<Error>(*error_);
    return all;
  }

 private:
  void make_blocks(const Segments& segments, DeviceModules& all) {
    all.block_forward = module("block_forward", segments.block_forward);
    if (use_.evaluates) all.block_evaluate = module("block_evaluate", segments.block_evaluate);
    const std::size_t dy = segments.block_backward.parameters.size() - 1;
    all.block_backward = backward("block_backward", segments.block_backward, 1, none, {{0, dy}});
    // x, key?, segments?
    const std::size_t first_weight = 1 + (drops(part_) ? 1 : 0) + (part_.segmented ? 1 : 0);
    const Places weights = table_.block(0);
    all.block_group = group(
        "block", table_.trained(weights),
        packed_in({&segments.block_forward, &segments.block_backward}, first_weight, weights));
  }

  void make_outer(const Segments& segments, OuterModules& outer) {
    outer.embed = module("embed", segments.embed);
    if (use_.evaluates) outer.head_evaluate = module("head_evaluate", segments.head_evaluate);
    const bool cut = head_pieces(part_) > 1;
    if (cut) {
      outer.pieces =
          PieceModules{module("cut_head", make_cut(part_)), module("join_head", make_join(part_))};
    }
    outer.head = backward("head", segments.head, 2, none, {}, cut);
    if (!segments.embed_backward.outputs.empty()) {
      outer.embed_backward =
          backward("embed_backward", segments.embed_backward, 0, table_.own_embedding(), {});
    }
    if (part_.gradient_clip > 0) outer.clip = module("clip", make_clip(part_.gradient_clip));
    const Places& head = table_.head;
    const Places packed = packed_in({&segments.head}, head_inputs(part_) + 1, head);
    const Places body = table_.outer(RateGroup::body);
    if (!body.empty()) outer.body_group = group("core", body, packed);
    const Places own = table_.outer(RateGroup::head);
    if (!own.empty()) outer.head_group = group("head", own, packed);
  }

  static constexpr std::size_t none = SIZE_MAX;

  // See BackwardModules. `replaced`: results, and the parameters whose memory they take. `again`:
  // it runs several times for a batch.
  BackwardModules backward(const std::string& name, const Graph& graph, std::size_t first_sum,
                           std::size_t shared,
                           const std::vector<std::pair<std::size_t, std::size_t>>& replaced,
                           bool again = false) {
    const std::size_t own = graph.parameters.size();
    const std::size_t results = graph.outputs.size();
    const auto adding_from = [&](const std::string& called, std::size_t first) {
      Reuses reuses(results);
      for (const auto& [output, parameter] : replaced) reuses[output] = parameter;
      for (std::size_t i = first; i < results; ++i) reuses[i] = own + i - first;
      if (first >= results) return module(called, graph, reuses);
      return module(called, add_to_sums(graph, first), reuses);
    };
    BackwardModules made;
    made.first_sum = first_sum;
    made.shared = std::min(shared, results);
    made.first = adding_from(name, made.shared);
    if ((part_.accumulation > 1 || again) && first_sum < results) {
      made.more = adding_from(name + "_more", first_sum);
    }
    return made;
  }

  // Those of `which`, a graph's parameters from `first` on, that any of these graphs takes as bf16.
  static Places packed_in(const std::vector<const Graph*>& graphs, std::size_t first,
                          const Places& which) {
    Places packed;
    for (std::size_t i = 0; i < which.size(); ++i) {
      const bool is_packed = std::any_of(graphs.begin(), graphs.end(), [&](const Graph* graph) {
        return graph->type(graph->parameters[first + i]).element == graph::Element::bf16;
      });
      if (is_packed) packed.push_back(which[i]);
    }
    return packed;
  }

  // All of `which` are trained. `halves`: the parameters that programs take as bf16.
  GroupModules group(const std::string& name, const Places& which, const Places& halves) {
    std::vector<Type> types;
    std::vector<bool> decays;
    std::vector<bool> packed;
    for (const std::size_t i : which) {
      types.push_back({graph::Element::f32, table_.infos[i].shape});
      decays.push_back(table_.infos[i].decays);
      packed.push_back(std::find(halves.begin(), halves.end(), i) != halves.end());
    }
    GroupModules made;
    made.packed = packed;
    const std::size_t n = types.size();
    if (std::find(packed.begin(), packed.end(), true) != packed.end()) {
      made.pack = module("pack_" + name, make_pack(types, packed));
    }
    add_exchange(name, which, made);
    std::vector<double> shares;
    for (const std::size_t i : which) {
      shares.push_back(table_.infos[i].cut ? 1 : 1 / static_cast<double>(part_.columns));
    }
    made.finish = module("finish_" + name, make_finish(types, shares), {0});
    auto update = make_update(types, decays, packed,
                              {part_.weight_decay, part_.beta1, part_.beta2, part_.epsilon,
                               part_.gradient_clip, part_.schedule});
    // Parameters, means, variances; gradients are in between. What is packed is new memory.
    Reuses state(update ? update->outputs.size() : 3 * n);
    for (std::size_t i = 0; i < n; ++i) {
      state[i] = update_factors + i;
      state[n + i] = update_factors + 2 * n + i;
      state[2 * n + i] = update_factors + 3 * n + i;
    }
    made.update = module("update_" + name, update, state);
    return made;
  }

  // What the devices of a row share is summed over the rows; of the rest each has a summand.
  void add_exchange(const std::string& name, const Places& which, GroupModules& made) {
    std::vector<Type> types;
    std::vector<graph::op::AllReduce> over;
    Reuses sums;
    for (const std::size_t i : which) {
      const ParameterInfo& info = table_.infos[i];
      const graph::op::AllReduce sum = info.cut ? graph::op::AllReduce{part_.ranks, part_.columns}
                                                : graph::op::AllReduce{use_.devices};
      made.exchanged.push_back(sum.devices > 1);
      if (sum.devices == 1) continue;
      sums.emplace_back(types.size());
      types.push_back({graph::Element::f32, info.shape});
      over.push_back(sum);
    }
    if (!types.empty()) {
      made.exchange = module("exchange_" + name, make_exchange(types, over), sums);
    }
  }

  Module module(std::string name, const Result<Graph>& graph, Reuses reuses = {}) {
    if (graph) return module(std::move(name), *graph, std::move(reuses));
    note(graph.error());
    return {};
  }
  Module module(std::string name, const Graph& graph, Reuses reuses = {}) {
    auto lowered = stablehlo::lower(graph, use_.target);
    if (!lowered) {
      lowered.error().what = fmt::format("{}: {}", name, lowered.error().what);
      note(lowered.error());
      return {};
    }
    const bool general = use_.target == stablehlo::Target::general;
    if (!general) reuses.clear();
    return {std::move(name), use_.devices, *std::move(lowered), std::move(reuses), general};
  }
  void note(const Error& error) {
    if (!error_) error_ = error;
  }

  TrainingSpec part_;
  const DeviceUse& use_;
  ParameterTable table_;
  std::optional<Error> error_;
};

void add(const BackwardModules& backward, std::vector<const Module*>& all) {
  all.push_back(&backward.first);
  if (backward.more) all.push_back(&*backward.more);
}

void add(const GroupModules& group, std::vector<const Module*>& all) {
  if (group.pack) all.push_back(&*group.pack);
  if (group.exchange) all.push_back(&*group.exchange);
  all.push_back(&group.finish);
  all.push_back(&group.update);
}

}  // namespace

std::vector<const Module*> DeviceModules::all() const {
  std::vector<const Module*> all{&block_forward};
  if (block_evaluate) all.push_back(&*block_evaluate);
  if (join_squares) all.push_back(&*join_squares);
  add(block_backward, all);
  add(block_group, all);
  if (outer) {
    all.push_back(&outer->embed);
    if (outer->head_evaluate) all.push_back(&*outer->head_evaluate);
    add(outer->head, all);
    if (outer->pieces) {
      all.push_back(&outer->pieces->cut);
      all.push_back(&outer->pieces->join);
    }
    if (outer->embed_backward) add(*outer->embed_backward, all);
    if (outer->clip) all.push_back(&*outer->clip);
    if (outer->body_group) add(*outer->body_group, all);
    if (outer->head_group) add(*outer->head_group, all);
  }
  return all;
}

Result<DeviceModules> make_modules(const TrainingSpec& part, const DeviceUse& use) {
  return ModuleMaker(part, use).make();
}

}  // namespace trainward::trainer
