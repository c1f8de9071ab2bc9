#include <numeric>
#include <span>
#include <utility>

#include "trainer/device/backward_programs.hpp"
#include "trainer/device/head_predictions.hpp"
#include "trainer/device/outer_layers.hpp"
#include "trainer/device/outer_parameters.hpp"

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
  OuterPrograms programs{
      std::move(*embed), std::move(*head_evaluate), std::nullopt, std::move(*head),
      std::nullopt,      std::move(*clip),          std::nullopt, std::nullopt};
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
        parameters_(state, part.columns, programs_.body, programs_.own_head),
        predictions_(device, part) {}

  Result<Shards> embed(const BatchTokens& tokens) override {
    auto ids = upload_ids(tokens);
    if (!ids) return ids;
    Arguments arguments{&*ids};
    add_first(arguments);
    for (const std::size_t i : table_.embedding) arguments.push_back(&parameters_.parameter(i));
    return first_of(programs_.embed.run(arguments));
  }

  Result<Shards> head(const BatchTokens& tokens, const Shards& x,
                      const BatchOfStep& batch) override {
    const std::vector<Shards*> sums = parameters_.gradients(table_.head);
    std::vector<Shards> losses;
    std::vector<Shards> dx;
    const auto run = [&](std::size_t piece, const Arguments& arguments) -> Status {
      auto results = run_backward(programs_.head, batch.first && piece == 0, arguments, sums);
      if (!results) return propagate(results);
      losses.push_back(std::move((*results)[0]));
      dx.push_back(std::move((*results)[1]));
      return {};
    };
    if (auto ok = for_each_piece(tokens, x, run); !ok) return propagate(ok);
    // What the head shares with the embedding follows the other rate.
    if (batch.last) {
      if (auto ok = parameters_.exchange(RateGroup::head); !ok) return propagate(ok);
    }
    return join(std::move(losses), std::move(dx));
  }

  Status embed_backward(const BatchTokens& tokens, const Shards& dx,
                        const BatchOfStep& batch) override {
    if (programs_.embed_backward) {
      auto ids = upload_ids(tokens);
      if (!ids) return propagate(ids);
      const std::vector<Shards*> sums = parameters_.gradients(table_.embedding);
      Arguments arguments{&*ids};
      add_first(arguments);
      arguments.push_back(&dx);
      auto results = run_backward(*programs_.embed_backward, batch.first, arguments, sums);
      if (!results) return propagate(results);
    }
    if (batch.last) return parameters_.exchange(RateGroup::body);
    return {};
  }

  Status finish(Shards& squares, optim::AdamW& /*optimizer*/) override {
    return parameters_.finish(squares);
  }

  Result<std::optional<Shards>> clip(const Shards& squares) override {
    const float all = 1;
    auto factor = programs_.clip ? first_of(programs_.clip->run(Arguments{&squares}))
                                 : device_.upload({graph::Element::f32, {1}}, &all);
    if (!factor) return propagate(factor);
    return std::optional(std::move(*factor));
  }

  Result<double> take_loss() override {
    auto own = own_losses(std::exchange(losses_, {}));
    if (!own) return propagate(own);
    if (own_losses_.empty()) own_losses_.resize(own->size());
    for (std::size_t d = 0; d < own->size(); ++d) {
      const auto batches = static_cast<double>(part_.accumulation);
      own_losses_[d] +=
          part_.weighted ? (*own)[d] * static_cast<double>(part_.ranks) : (*own)[d] / batches;
    }
    return over_devices(*own);
  }
  std::vector<double> take_own_losses() override { return std::exchange(own_losses_, {}); }

  Status begin_update(optim::AdamW& optimizer, std::int64_t t, const Shards* clip) override {
    return parameters_.update(device_, part_, optimizer, t, clip);
  }
  Status end_update() override { return {}; }

  Result<double> evaluate(const BatchTokens& tokens, const Shards& x) override {
    std::vector<Shards> losses;
    const auto run = [&](std::size_t /*piece*/, const Arguments& arguments) -> Status {
      auto loss = first_of(programs_.head_evaluate->run(arguments));
      if (!loss) return propagate(loss);
      losses.push_back(std::move(*loss));
      return {};
    };
    if (auto ok = for_each_piece(tokens, x, run); !ok) return propagate(ok);
    auto own = own_losses(losses);
    if (!own) return propagate(own);
    return over_devices(*own);
  }

  Status upload() override {
    if (auto ok = upload_first(); !ok) return ok;
    return parameters_.upload(device_);
  }
  Status download() override { return parameters_.download(); }

  Status add_checksum(std::size_t device, std::vector<std::byte>& scratch,
                      std::uint64_t& checksum) const override {
    return parameters_.add_checksum(device, scratch, checksum);
  }

  [[nodiscard]] std::size_t arena_bytes() const override { return 0; }

 private:
  static Result<Shards> first_of(Result<std::vector<Shards>> results) {
    if (!results) return propagate(results);
    return std::move(results->front());
  }

  Result<Shards> upload_ids(const BatchTokens& tokens) {
    std::vector<const void*> data;
    for (std::size_t d = 0; d < device_.count(); ++d) {
      data.push_back(tokens[d / columns()].ids.data());
    }
    return device_.upload({graph::Element::i32, {part_.batch_size, part_.block_size}}, data);
  }

  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(part_.columns); }

  // Of the tokens that the devices of a row share, the first of each.
  Status upload_first() {
    if (columns() == 1 || !first_.empty()) return {};
    const std::int64_t share = part_.model.padded_vocabulary() / part_.columns;
    std::vector<std::int32_t> firsts;
    firsts.reserve(device_.count());
    for (std::size_t d = 0; d < device_.count(); ++d) {
      firsts.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(d % columns()) * share));
    }
    std::vector<const void*> data;
    data.reserve(firsts.size());
    for (const std::int32_t& first : firsts) data.push_back(&first);
    auto value = device_.upload({graph::Element::i32, {1}}, data);
    if (!value) return propagate(value);
    first_.push_back(*std::move(value));
    return {};
  }
  void add_first(Arguments& arguments) const {
    for (const Shards& first : first_) arguments.push_back(&first);
  }

  // Calls `run` with the number of each piece of a batch and what the head takes for it.
  template <typename Run>
  Status for_each_piece(const BatchTokens& tokens, const Shards& x, const Run& run) {
    predictions_.set(tokens);
    std::vector<Shards> cut;  // none: x is not cut
    if (programs_.pieces) {
      auto pieces = programs_.pieces->cut.run(Arguments{&x});
      if (!pieces) return propagate(pieces);
      cut = std::move(*pieces);
    }
    for (std::size_t piece = 0; piece < predictions_.pieces(); ++piece) {
      auto predicted = predictions_.upload(piece);
      if (!predicted) return propagate(predicted);
      Arguments arguments;
      for (const Shards& value : *predicted) arguments.push_back(&value);
      add_first(arguments);
      arguments.push_back(cut.empty() ? &x : &cut[piece]);
      for (const std::size_t i : table_.head) arguments.push_back(&parameters_.argument(i));
      if (auto ok = run(piece, arguments); !ok) return ok;
    }
    return {};
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

  // Of each device, added up.
  [[nodiscard]] Result<std::vector<double>> own_losses(const std::vector<Shards>& losses) const {
    std::vector<double> sums(device_.count());
    for (const Shards& loss : losses) {
      for (std::size_t d = 0; d < loss.size(); ++d) {
        float value = 0;
        const auto bytes = std::as_writable_bytes(std::span(&value, 1));
        if (auto ok = trainer::download(loss, bytes, d); !ok) return propagate(ok);
        sums[d] += static_cast<double>(value);
      }
    }
    return sums;
  }

  // The mean, or with weights the sum.
  [[nodiscard]] double over_devices(const std::vector<double>& own) const {
    // Those of a row have the same one.
    const double sum =
        std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(part_.columns);
    return part_.weighted ? sum : sum / static_cast<double>(part_.ranks);
  }

  Device& device_;
  OuterPrograms programs_;
  TrainingSpec part_;
  const ParameterTable& table_;
  OuterParameters parameters_;
  HeadPredictions predictions_;
  std::vector<Shards> first_;       // token of each device: none, or one
  std::vector<Shards> losses_;      // of the step's batches
  std::vector<double> own_losses_;  // of each device, for take_own_losses()
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
