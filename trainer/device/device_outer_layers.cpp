#include <span>
#include <utility>

#include "trainer/device/backward_programs.hpp"
#include "trainer/device/fixed_parameters.hpp"
#include "trainer/device/head_pieces.hpp"
#include "trainer/device/outer_layers.hpp"
#include "trainer/device/parameter_group.hpp"
#include "trainer/device/update_factors.hpp"

namespace trainward::trainer {
namespace {

using Arguments = std::vector<const Shards*>;

struct PiecePrograms {
  DeviceProgram cut, join;
};

struct OuterPrograms {
  DeviceProgram embed;
  std::optional<DeviceProgram> head_evaluate;
  std::optional<PiecePrograms> pieces;
  BackwardDevicePrograms head;
  std::optional<BackwardDevicePrograms> embed_backward;
  std::optional<DeviceProgram> clip;
  std::optional<GroupPrograms> body, own_head;
};

Result<PiecePrograms> make_programs(Device& device, const PieceModules& modules) {
  auto cut = device.make(modules.cut);
  if (!cut) return propagate(cut);
  auto join = device.make(modules.join);
  if (!join) return propagate(join);
  return PiecePrograms{std::move(*cut), std::move(*join)};
}

// Nothing of nothing.
template <typename Programs, typename Modules>
Status make_programs(Device& device, const std::optional<Modules>& modules,
                     std::optional<Programs>& into) {
  if (!modules) return {};
  auto programs = make_programs(device, *modules);
  if (!programs) return propagate(programs);
  into = std::move(*programs);
  return {};
}

Result<OuterPrograms> make_programs(Device& device, const OuterModules& modules) {
  auto embed = device.make(modules.embed);
  if (!embed) return propagate(embed);
  auto head_evaluate = device.make(modules.head_evaluate);
  if (!head_evaluate) return propagate(head_evaluate);
  auto head = make_programs(device, modules.head);
  if (!head) return propagate(head);
  auto clip = device.make(modules.clip);
  if (!clip) return propagate(clip);
  OuterPrograms programs{std::move(*embed),
                         std::move(*head_evaluate),
                         std::nullopt,
                         std::move(*head),
                         std::nullopt,
                         std::move(*clip),
                         std::nullopt,
                         std::nullopt};
  auto ok = make_programs(device, modules.pieces, programs.pieces);
  if (ok) ok = make_programs(device, modules.embed_backward, programs.embed_backward);
  if (ok) ok = make_programs(device, modules.body_group, programs.body);
  if (ok) ok = make_programs(device, modules.head_group, programs.own_head);
  if (!ok) return propagate(ok);
  return programs;
}

class DeviceOuterLayers final : public OuterLayers {
 public:
  DeviceOuterLayers(Device& device, OuterPrograms programs, const TrainingSpec& part,
                    const ModelState& state)
      : device_(device),
        programs_(std::move(programs)),
        part_(part),
        table_(state.table),
        flat_(state.flat),
        fixed_(state) {
    if (programs_.body) add_group(RateGroup::body, *programs_.body);
    if (programs_.own_head) add_group(RateGroup::head, *programs_.own_head);
  }

  Result<Shards> embed(const BatchTokens& tokens) override {
    auto ids = upload_ids(tokens);
    if (!ids) return ids;
    Arguments arguments{&*ids};
    for (const std::size_t i : table_.embedding) arguments.push_back(&parameter(i));
    return first_of(programs_.embed.run(arguments));
  }

  Result<Shards> head(const BatchTokens& tokens, const Shards& x, bool first) override {
    set_targets(tokens);
    auto cut = pieces_of(x);
    if (!cut) return propagate(cut);
    const std::vector<Shards*> sums = gradients_of(table_.head);
    std::vector<Shards> losses;
    std::vector<Shards> dx;
    for (std::size_t i = 0; i < pieces(); ++i) {
      auto predicted = upload_predicted(tokens, i);
      if (!predicted) return propagate(predicted);
      const Arguments arguments = head_arguments(*predicted, piece_of(*cut, x, i));
      auto results = run_backward(programs_.head, first && i == 0, arguments, sums);
      if (!results) return propagate(results);
      losses.push_back(std::move((*results)[0]));
      dx.push_back(std::move((*results)[1]));
    }
    return join(std::move(losses), std::move(dx));
  }

  Status embed_backward(const BatchTokens& tokens, const Shards& dx, bool first) override {
    if (!programs_.embed_backward) return {};
    auto ids = upload_ids(tokens);
    if (!ids) return propagate(ids);
    const std::vector<Shards*> sums = gradients_of(table_.embedding);
    auto results = run_backward(*programs_.embed_backward, first, {&*ids, &dx}, sums);
    if (!results) return propagate(results);
    return {};
  }

  Status finish(Shards& squares, optim::AdamW& /*optimizer*/) override {
    for (Group& group : groups_) {
      if (auto ok = group.parameters.finish(squares); !ok) return ok;
    }
    return {};
  }

  Result<std::optional<Shards>> clip(const Shards& squares) override {
    const float all = 1;
    auto factor = programs_.clip ? first_of(programs_.clip->run(Arguments{&squares}))
                                 : device_.upload({graph::Element::f32, {1}}, &all);
    if (!factor) return propagate(factor);
    return std::optional(std::move(*factor));
  }

  Result<double> take_loss() override {
    double sum = 0;
    for (const Shards& loss : losses_) {
      auto one = over_devices(loss);
      if (!one) return one;
      sum += *one;
    }
    losses_.clear();
    return sum;
  }

  Status begin_update(optim::AdamW& optimizer, std::int64_t t, const Shards* clip) override {
    for (Group& group : groups_) {
      const bool head = group.rate == RateGroup::head;
      const double rate = head ? part_.head_learning_rate : part_.learning_rate;
      auto factors = upload_factors(device_, optimizer.factors(rate, t));
      if (!factors) return propagate(factors);
      if (auto ok = group.parameters.update(*factors, clip); !ok) return ok;
    }
    return {};
  }
  Status end_update() override { return {}; }

  Result<double> evaluate(const BatchTokens& tokens, const Shards& x) override {
    set_targets(tokens);
    auto cut = pieces_of(x);
    if (!cut) return propagate(cut);
    std::vector<Shards> losses;
    for (std::size_t i = 0; i < pieces(); ++i) {
      auto predicted = upload_predicted(tokens, i);
      if (!predicted) return propagate(predicted);
      const Arguments arguments = head_arguments(*predicted, piece_of(*cut, x, i));
      auto loss = first_of(programs_.head_evaluate->run(arguments));
      if (!loss) return propagate(loss);
      losses.push_back(std::move(*loss));
    }
    double sum = 0;
    for (const Shards& loss : losses) {
      auto one = over_devices(loss);
      if (!one) return one;
      sum += *one;
    }
    return sum;
  }

  Status upload() override {
    auto ok = fixed_.upload(device_, table_.embedding);
    if (ok) ok = fixed_.upload(device_, table_.head);
    for (Group& group : groups_) {
      if (ok) ok = group.parameters.upload(device_, flat_);
    }
    return ok;
  }
  Status download() override {
    for (const Group& group : groups_) {
      if (auto ok = group.parameters.download(flat_); !ok) return ok;
    }
    return {};
  }

  [[nodiscard]] std::size_t arena_bytes() const override { return 0; }

 private:
  static Result<Shards> first_of(Result<std::vector<Shards>> results) {
    if (!results) return propagate(results);
    return std::move(results->front());
  }

  struct Group {
    RateGroup rate;
    ParameterGroup parameters;
  };
  struct InGroup {
    ParameterGroup* group = nullptr;
    std::size_t place = 0;
  };

  void add_group(RateGroup rate, const GroupPrograms& programs) {
    groups_.push_back({rate, ParameterGroup(table_, table_.outer(rate), programs)});
  }

  Result<Shards> upload_ids(const BatchTokens& tokens) {
    std::vector<const void*> data;
    for (const auto& part : tokens) data.push_back(part.ids.data());
    return device_.upload({graph::Element::i32, {part_.batch_size, part_.block_size}}, data);
  }

  // No group: it is not trained.
  InGroup find(std::size_t of_table) {
    for (Group& group : groups_) {
      if (const auto i = group.parameters.find(of_table)) return {&group.parameters, *i};
    }
    return {};
  }
  const Shards& parameter(std::size_t of_table) {
    const InGroup at = find(of_table);
    return at.group != nullptr ? at.group->parameter(at.place) : fixed_[of_table];
  }
  // As the head takes it.
  const Shards& argument(std::size_t of_table) {
    const InGroup at = find(of_table);
    return at.group != nullptr ? at.group->argument(at.place) : fixed_[of_table];
  }
  std::vector<Shards*> gradients_of(const Places& which) {
    std::vector<Shards*> all;
    for (const std::size_t i : table_.trained(which)) {
      const InGroup at = find(i);
      all.push_back(&at.group->gradient(at.place));
    }
    return all;
  }

  // How often the head runs for a batch.
  [[nodiscard]] std::size_t pieces() const { return static_cast<std::size_t>(head_pieces(part_)); }

  // Nothing: x is not cut.
  Result<std::vector<Shards>> pieces_of(const Shards& x) {
    if (!programs_.pieces) return std::vector<Shards>{};
    return programs_.pieces->cut.run(Arguments{&x});
  }
  static const Shards& piece_of(const std::vector<Shards>& cut, const Shards& x, std::size_t i) {
    return cut.empty() ? x : cut[i];
  }

  // Takes the batch's loss, and gives its gradient.
  Result<Shards> join(std::vector<Shards> losses, std::vector<Shards> dx) {
    if (!programs_.pieces) {
      losses_.push_back(std::move(losses.front()));
      return std::move(dx.front());
    }
    Arguments arguments;
    for (const Shards& piece : dx) arguments.push_back(&piece);
    for (const Shards& loss : losses) arguments.push_back(&loss);
    auto joined = programs_.pieces->join.run(arguments);
    if (!joined) return propagate(joined);
    losses_.push_back(std::move((*joined)[0]));
    return std::move((*joined)[1]);
  }

  // Of all devices, one after another.
  void set_targets(const BatchTokens& tokens) {
    if (!part_.weighted) return;
    const auto each = static_cast<std::size_t>(part_.batch_size * part_.block_size);
    targets_.resize(each * tokens.size());
    weights_.resize(targets_.size());
    for (std::size_t d = 0; d < tokens.size(); ++d) {
      set_predictions(tokens[d], part_.block_size, std::span(targets_).subspan(d * each, each),
                      std::span(weights_).subspan(d * each, each));
    }
  }

  // What the head predicts in a piece: the ids, or targets and their weights.
  Result<std::vector<Shards>> upload_predicted(const BatchTokens& tokens, std::size_t piece) {
    std::vector<Shards> all;
    const auto add = [&](Result<Shards> one) -> Status {
      if (!one) return propagate(one);
      all.push_back(std::move(*one));
      return {};
    };
    if (!part_.weighted) {
      if (auto ok = add(upload_ids(tokens)); !ok) return propagate(ok);
      return all;
    }
    const auto each = static_cast<std::size_t>(part_.batch_size * part_.block_size);
    const std::size_t rows = each / pieces();
    const graph::Shape shape = pieces() > 1
                                   ? graph::Shape{1, static_cast<std::int64_t>(rows)}
                                   : graph::Shape{part_.batch_size, part_.block_size};
    std::vector<const void*> targets;
    std::vector<const void*> weights;
    for (std::size_t d = 0; d < tokens.size(); ++d) {
      targets.push_back(targets_.data() + d * each + piece * rows);
      weights.push_back(weights_.data() + d * each + piece * rows);
    }
    auto ok = add(device_.upload({graph::Element::i32, shape}, targets));
    if (ok) ok = add(device_.upload({graph::Element::f32, shape}, weights));
    if (!ok) return propagate(ok);
    return all;
  }

  Arguments head_arguments(const std::vector<Shards>& predicted, const Shards& x) {
    Arguments arguments;
    for (const Shards& value : predicted) arguments.push_back(&value);
    arguments.push_back(&x);
    for (const std::size_t i : table_.head) arguments.push_back(&argument(i));
    return arguments;
  }

  // The mean of their losses, or with weights their sum.
  Result<double> over_devices(const Shards& loss) const {
    double sum = 0;
    for (std::size_t d = 0; d < loss.size(); ++d) {
      float value = 0;
      if (auto ok = trainer::download(loss, std::as_writable_bytes(std::span(&value, 1)), d); !ok) {
        return propagate(ok);
      }
      sum += static_cast<double>(value);
    }
    return part_.weighted ? sum : sum / static_cast<double>(loss.size());
  }

  Device& device_;
  OuterPrograms programs_;
  TrainingSpec part_;
  const ParameterTable& table_;
  const FlatMemory& flat_;
  FixedParameters fixed_;
  std::vector<Group> groups_;  // body, then head
  std::vector<Shards> losses_;
  // Of the batch, where predictions have weights.
  std::vector<std::int32_t> targets_;
  std::vector<float> weights_;
};

}  // namespace

Result<std::unique_ptr<OuterLayers>> make_device_outer_layers(Device& device,
                                                              const OuterModules& modules,
                                                              const TrainingSpec& part,
                                                              const ModelState& state) {
  auto programs = make_programs(device, modules);
  if (!programs) return propagate(programs);
  return std::make_unique<DeviceOuterLayers>(device, std::move(*programs), part, state);
}

}  // namespace trainward::trainer
