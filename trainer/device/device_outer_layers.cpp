#include "trainer/device/backward_programs.hpp"
#include "trainer/device/outer_layers.hpp"
#include "trainer/device/parameter_group.hpp"
#include "trainer/device/update_factors.hpp"

namespace trainward::trainer {
namespace {

using Arguments = std::vector<const Shards*>;

struct OuterPrograms {
  DeviceProgram embed;
  std::optional<DeviceProgram> head_evaluate;
  BackwardDevicePrograms head, embed_backward;
  std::optional<DeviceProgram> clip;
  GroupPrograms body;
  std::optional<GroupPrograms> own_head;
};

Result<OuterPrograms> make_programs(Device& device, const OuterModules& modules) {
  auto embed = device.make(modules.embed);
  if (!embed) return propagate(embed);
  auto head_evaluate = device.make(modules.head_evaluate);
  if (!head_evaluate) return propagate(head_evaluate);
  auto head = make_programs(device, modules.head);
  if (!head) return propagate(head);
  auto embed_backward = make_programs(device, modules.embed_backward);
  if (!embed_backward) return propagate(embed_backward);
  auto clip = device.make(modules.clip);
  if (!clip) return propagate(clip);
  auto body = make_programs(device, modules.body_group);
  if (!body) return propagate(body);
  OuterPrograms programs{
      std::move(*embed), std::move(*head_evaluate), std::move(*head), std::move(*embed_backward),
      std::move(*clip),  std::move(*body),          std::nullopt};
  if (modules.head_group) {
    auto own = make_programs(device, *modules.head_group);
    if (!own) return propagate(own);
    programs.own_head = std::move(*own);
  }
  return programs;
}

class DeviceOuterLayers final : public OuterLayers {
 public:
  DeviceOuterLayers(Device& device, OuterPrograms programs, const TrainingSpec& part,
                    const ParameterTable& table, const FlatMemory& flat)
      : device_(device),
        programs_(std::move(programs)),
        part_(part),
        table_(table),
        flat_(flat),
        body_(table, table.outer(RateGroup::body), programs_.body) {
    if (programs_.own_head)
      own_head_.emplace(table, table.outer(RateGroup::head), *programs_.own_head);
  }

  Result<Shards> embed(const BatchTokens& tokens) override {
    auto ids = upload_ids(tokens);
    if (!ids) return ids;
    Arguments arguments{&*ids};
    for (const std::size_t i : table_.embedding) {
      const auto [group, k] = place(i);
      arguments.push_back(&group->parameter(k));
    }
    return first_of(programs_.embed.run(arguments));
  }

  Result<Shards> head(const BatchTokens& tokens, const Shards& x, bool first) override {
    auto ids = upload_ids(tokens);
    if (!ids) return ids;
    Arguments arguments = head_arguments(*ids, x);
    std::vector<Shards*> sums;
    for (const std::size_t i : table_.head) sums.push_back(&gradient(i));
    auto results = run_backward(programs_.head, first, arguments, sums);
    if (!results) return propagate(results);
    losses_.push_back(std::move((*results)[0]));
    return std::move((*results)[1]);
  }

  Status embed_backward(const BatchTokens& tokens, const Shards& dx, bool first) override {
    auto ids = upload_ids(tokens);
    if (!ids) return propagate(ids);
    std::vector<Shards*> sums;
    for (const std::size_t i : table_.embedding) sums.push_back(&gradient(i));
    auto results = run_backward(programs_.embed_backward, first, {&*ids, &dx}, sums);
    if (!results) return propagate(results);
    return {};
  }

  Status finish(Shards& squares, optim::AdamW& /*optimizer*/) override {
    auto ok = body_.finish(squares);
    if (ok && own_head_) ok = own_head_->finish(squares);
    return ok;
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
      auto mean = mean_over_devices(loss);
      if (!mean) return mean;
      sum += *mean;
    }
    losses_.clear();
    return sum;
  }

  Status begin_update(optim::AdamW& optimizer, std::int64_t t, const Shards* clip) override {
    auto ok = update(body_, optimizer.factors(part_.learning_rate, t), clip);
    if (ok && own_head_) {
      ok = update(*own_head_, optimizer.factors(part_.head_learning_rate, t), clip);
    }
    return ok;
  }
  Status end_update() override { return {}; }

  Result<double> evaluate(const BatchTokens& tokens, const Shards& x) override {
    auto ids = upload_ids(tokens);
    if (!ids) return propagate(ids);
    auto loss = first_of(programs_.head_evaluate->run(head_arguments(*ids, x)));
    if (!loss) return propagate(loss);
    return mean_over_devices(*loss);
  }

  Status upload() override {
    auto ok = body_.upload(device_, flat_);
    if (ok && own_head_) ok = own_head_->upload(device_, flat_);
    return ok;
  }
  Status download() override {
    auto ok = body_.download(flat_);
    if (ok && own_head_) ok = own_head_->download(flat_);
    return ok;
  }

  [[nodiscard]] std::size_t arena_bytes() const override { return 0; }

 private:
  static Result<Shards> first_of(Result<std::vector<Shards>> results) {
    if (!results) return propagate(results);
    return std::move(results->front());
  }

  Result<Shards> upload_ids(const BatchTokens& tokens) {
    std::vector<const void*> data;
    for (const auto& part : tokens) data.push_back(part.ids.data());
    return device_.upload({graph::Element::i32, {part_.batch_size, part_.block_size}}, data);
  }

  [[nodiscard]] std::pair<ParameterGroup*, std::size_t> place(std::size_t of_table) {
    if (const auto i = body_.find(of_table)) return {&body_, *i};
    return {&*own_head_, own_head_->find(of_table).value()};
  }
  Shards& gradient(std::size_t of_table) {
    const auto [group, i] = place(of_table);
    return group->gradient(i);
  }

  Arguments head_arguments(const Shards& ids, const Shards& x) {
    Arguments arguments{&ids, &x};
    for (const std::size_t i : table_.head) {
      const auto [group, k] = place(i);
      arguments.push_back(&group->argument(k));
    }
    return arguments;
  }

  Result<double> mean_over_devices(const Shards& loss) const {
    double sum = 0;
    for (std::size_t d = 0; d < loss.size(); ++d) {
      float value = 0;
      if (auto ok = trainer::download(loss, std::as_writable_bytes(std::span(&value, 1)), d); !ok) {
        return propagate(ok);
      }
      sum += static_cast<double>(value);
    }
    return sum / static_cast<double>(loss.size());
  }

  Status update(ParameterGroup& group, const optim::AdamWFactors& factors, const Shards* clip) {
    auto uploaded = upload_factors(device_, factors);
    if (!uploaded) return propagate(uploaded);
    return group.update(*uploaded, clip);
  }

  Device& device_;
  OuterPrograms programs_;
  TrainingSpec part_;
  const ParameterTable& table_;
  const FlatMemory& flat_;
  ParameterGroup body_;
  std::optional<ParameterGroup> own_head_;
  std::vector<Shards> losses_;
};

}  // namespace

Result<std::unique_ptr<OuterLayers>> make_device_outer_layers(Device& device,
                                                              const OuterModules& modules,
                                                              const TrainingSpec& part,
                                                              const ModelState& state) {
  auto programs = make_programs(device, modules);
  if (!programs) return propagate(programs);
  return std::make_unique<DeviceOuterLayers>(device, std::move(*programs), part, state.table, state.flat);
}

}  // namespace trainward::trainer
