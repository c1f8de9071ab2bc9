#include "trainer/model/cpu/parallel_model.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <type_traits>
#include <vector>

#include "trainer/ranks/timed_communicator.hpp"

namespace trainward::trainer {
namespace {

// What rank 0 has the others do. Sent as it lies in memory, to processes of the same program.
struct Command {
  enum class Kind : std::int64_t {
    make,
    step,
    evaluate,
    restore,
    checksums,
    use,
    end
  } kind = Kind::end;
  std::int64_t number = 0;  // tokens that follow; for restore the steps done, for end the exit code
};
static_assert(std::is_trivially_copyable_v<Command>);
static_assert(std::is_trivially_copyable_v<TrainingSpec>);

template <typename T>
void share(Communicator& peers, T& value) {
  peers.broadcast(std::as_writable_bytes(std::span(&value, 1)));
}

void order(Communicator& peers, Command::Kind kind, std::int64_t number = 0) {
  Command command{kind, number};
  share(peers, command);
}

// Each rank's share of a batch, in the order of the ranks.
TokenBatch part_of(const TokenBatch& all, const Communicator& peers) {
  const std::size_t size = all.ids.size() / static_cast<std::size_t>(peers.size());
  return all.part(size * static_cast<std::size_t>(peers.rank()), size);
}

// A batch that rank 0 hands to all; made by the first one that comes.
class SharedBatch {
 public:
  explicit SharedBatch(const TrainingSpec& spec)
      : weighted_(spec.weighted), segmented_(spec.segmented) {}

  void send(const TokenBatch& batch, Communicator& peers) {
    ids_.assign(batch.ids.begin(), batch.ids.end());
    weights_.assign(batch.weights.begin(), batch.weights.end());
    segments_.assign(batch.segments.begin(), batch.segments.end());
    broadcast(peers);
  }
  TokenBatch receive(std::int64_t count, Communicator& peers) {
    ids_.resize(static_cast<std::size_t>(count));
    weights_.resize(weighted_ ? ids_.size() : 0);
    segments_.resize(segmented_ ? ids_.size() : 0);
    broadcast(peers);
    return {ids_, weights_, segments_};
  }

 private:
  void broadcast(Communicator& peers) {
    peers.broadcast(std::as_writable_bytes(std::span(ids_)));
    if (weighted_) peers.broadcast(std::as_writable_bytes(std::span(weights_)));
    if (segmented_) peers.broadcast(std::as_writable_bytes(std::span(segments_)));
  }

  bool weighted_, segmented_;
  std::vector<std::int32_t> ids_;
  std::vector<float> weights_;
  std::vector<std::int32_t> segments_;
};

// The mean of the ranks' losses, or, where predictions have weights, their sum.
double over_ranks(double value, const TrainingSpec& part, Communicator& peers) {
  peers.sum(std::span(&value, 1));
  return part.weighted ? value : value / peers.size();
}

// A few numbers of each rank, in their order.
template <std::size_t count>
std::vector<std::array<double, count>> gather(const std::array<double, count>& own,
                                              Communicator& peers) {
  std::vector<std::array<double, count>> all(static_cast<std::size_t>(peers.size()));
  all[static_cast<std::size_t>(peers.rank())] = own;
  peers.sum(std::span(all.front().data(), all.size() * count));
  return all;
}

// Every rank's checksum of its copy, in their order. In halves, which a sum of doubles keeps.
std::vector<std::uint64_t> gather(std::uint64_t own, Communicator& peers) {
  std::vector<std::uint64_t> all;
  for (const auto& [high, low] :
       gather(std::array{static_cast<double>(own >> 32U), static_cast<double>(own & 0xFFFFFFFFU)},
              peers)) {
    all.push_back(static_cast<std::uint64_t>(high) << 32U | static_cast<std::uint64_t>(low));
  }
  return all;
}

Result<std::vector<std::uint64_t>> gather(Trainable& own, Communicator& peers) {
  auto mine = own.checksums();
  // The others are waiting for it, whatever came of this one.
  auto all = gather(mine ? mine->front() : 0, peers);
  if (!mine) return propagate(mine);
  return all;
}

// A rank's own steps: how long it computed, and how long it was busy with the others.
class OwnSteps {
 public:
  // `peers`: those of `model`.
  OwnSteps(Trainable& model, const TimedCommunicator& peers) : model_(model), peers_(peers) {}

  Result<StepResult> step(const TokenBatch& tokens) {
    const auto began = std::chrono::steady_clock::now();
    const auto before = peers_.spent();
    auto result = model_.step(tokens);
    const std::chrono::duration<double, std::nano> together = peers_.spent() - before;
    const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - began;
    if (!result) return result;
    numbers_[0] += result->own_loss;
    numbers_[1] += all.count() - together.count();
    numbers_[2] += together.count();
    return result;
  }

  // Of all ranks.
  std::vector<PartUse> take(Communicator& peers) {
    std::vector<PartUse> uses;
    for (const auto& [loss, compute, collective] : gather(numbers_, peers)) {
      const auto ns = [](double count) {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(count));
      };
      uses.push_back({loss, ns(compute), ns(collective), {}});
    }
    numbers_ = {};
    return uses;
  }

 private:
  Trainable& model_;
  const TimedCommunicator& peers_;
  std::array<double, 3> numbers_{};  // loss, and nanoseconds of computing and of exchange
};

class Leader final : public Trainable {
 public:
  // `own` says what it says by `peers`.
  Leader(const TrainingSpec& part, std::unique_ptr<TimedCommunicator> peers,
         std::unique_ptr<Trainable> own)
      : part_(part),
        timed_(std::move(peers)),
        peers_(*timed_),
        own_(std::move(own)),
        steps_(*own_, *timed_),
        shared_(part) {}

  Result<StepResult> step(const TokenBatch& tokens) override {
    // Of the whole step, since no rank may fail alone.
    if (auto ok = check_tokens(tokens, part_, part_.sequences_per_step()); !ok) {
      return propagate(ok);
    }
    const auto before = timed_->spent();
    hand_out(Command::Kind::step, tokens);
    auto result = steps_.step(part_of(tokens, peers_));
    if (result) {
      result->communication_us =
          std::chrono::duration_cast<std::chrono::microseconds>(timed_->spent() - before).count();
    }
    return result;
  }

  Result<double> evaluate(const TokenBatch& tokens) override {
    // A batch that was not split is no work for several.
    if (tokens.ids.size() == static_cast<std::size_t>(part_.batch_size * part_.block_size)) {
      return own_->evaluate(tokens);
    }
    if (auto ok = check_tokens(tokens, part_, part_.batch_size * part_.ranks); !ok) {
      return propagate(ok);
    }
    hand_out(Command::Kind::evaluate, tokens);
    const Result<double> mine = own_->evaluate(part_of(tokens, peers_));
    // The others are waiting for the sum, whatever came of this part.
    const double all = over_ranks(mine ? *mine : 0, part_, peers_);
    return mine ? Result<double>(all) : mine;
  }

  Status gather_state() override { return own_->gather_state(); }
  [[nodiscard]] std::vector<checkpoint::TensorView> model_state() const override {
    return own_->model_state();
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> optimizer_state() const override {
    return own_->optimizer_state();
  }
  [[nodiscard]] std::vector<const void*> weights() const override { return own_->weights(); }

  Status restore(const checkpoint::FillTensors& fill, std::int64_t steps_done) override {
    const auto fill_and_send = [&](const std::vector<checkpoint::TensorTarget>& model,
                                   const std::vector<checkpoint::TensorTarget>& optimizer) {
      Status status = fill(model, optimizer);
      if (status) {
        order(peers_, Command::Kind::restore, steps_done);
        send(model);
        send(optimizer);
      }
      return status;
    };
    return own_->restore(fill_and_send, steps_done);
  }

  Result<std::vector<std::uint64_t>> checksums() override {
    order(peers_, Command::Kind::checksums);
    return gather(*own_, peers_);
  }

  Result<std::vector<PartUse>> take_use() override {
    order(peers_, Command::Kind::use);
    return steps_.take(peers_);
  }

  [[nodiscard]] std::int64_t parameter_count() const override { return own_->parameter_count(); }
  [[nodiscard]] std::int64_t total_parameters() const override { return own_->total_parameters(); }
  [[nodiscard]] std::size_t arena_bytes() const override { return own_->arena_bytes(); }

 private:
  void hand_out(Command::Kind kind, const TokenBatch& tokens) {
    order(peers_, kind, static_cast<std::int64_t>(tokens.ids.size()));
    shared_.send(tokens, peers_);
  }
  void send(const std::vector<checkpoint::TensorTarget>& tensors) {
    for (const checkpoint::TensorTarget& tensor : tensors) peers_.broadcast(tensor.bytes);
  }

  TrainingSpec part_;
  std::unique_ptr<TimedCommunicator> timed_;  // goes after the model that uses it
  Communicator& peers_;
  std::unique_ptr<Trainable> own_;
  OwnSteps steps_;
  SharedBatch shared_;
};

class Follower {
 public:
  Follower(Communicator& peers, const MakePart& make_part)
      : timed_(peers), peers_(timed_), make_part_(make_part) {}

  Result<int> run() {
    while (true) {
      Command command;
      share(peers_, command);
      if (command.kind == Command::Kind::end) return static_cast<int>(command.number);
      if (auto ok = obey(command); !ok) return propagate(ok);
    }
  }

 private:
  Status obey(const Command& command) {
    switch (command.kind) {
      case Command::Kind::make:
        return make();
      case Command::Kind::step:
        // Rank 0 meets the same error and decides what becomes of it.
        (void)steps_->step(receive(command.number));
        return {};
      case Command::Kind::evaluate: {
        const Result<double> loss = model_->evaluate(receive(command.number));
        (void)over_ranks(loss ? *loss : 0, part_, peers_);
        return {};
      }
      case Command::Kind::restore:
        return restore(command.number);
      case Command::Kind::checksums:
        (void)gather(*model_, peers_);
        return {};
      case Command::Kind::use:
        (void)steps_->take(peers_);
        return {};
      case Command::Kind::end:
        break;
    }
    return fail(ErrorKind::permanent, "rank 0 sent an order that does not exist");
  }

  Status make() {
    share(peers_, part_);
    shared_.emplace(part_);
    auto model = make_part_(part_, peers_);
    if (!model) return propagate(model);
    model_ = *std::move(model);
    steps_.emplace(*model_, timed_);
    return {};
  }

  TokenBatch receive(std::int64_t count) {
    return part_of(shared_->receive(count, peers_), peers_);
  }

  Status restore(std::int64_t steps_done) {
    const auto fill = [&](const std::vector<checkpoint::TensorTarget>& model,
                          const std::vector<checkpoint::TensorTarget>& optimizer) -> Status {
      for (const auto* tensors : {&model, &optimizer}) {
        for (const checkpoint::TensorTarget& tensor : *tensors) peers_.broadcast(tensor.bytes);
      }
      return {};
    };
    return model_->restore(fill, steps_done);
  }

  TimedCommunicator timed_;
  Communicator& peers_;
  const MakePart& make_part_;
  TrainingSpec part_;
  std::optional<SharedBatch> shared_;
  std::unique_ptr<Trainable> model_;
  std::optional<OwnSteps> steps_;
};

}  // namespace

Result<TrainingSpec> split_over(TrainingSpec whole, std::int64_t ranks) {
  if (whole.batch_size % ranks == 0) {
    whole.batch_size /= ranks;
  } else if (whole.accumulation % ranks == 0) {
    whole.accumulation /= ranks;
  } else {
    return fail(ErrorKind::usage,
                fmt::format("neither the batch of {} nor {} of them a step can be split over {} "
                            "ranks",
                            whole.batch_size, whole.accumulation, ranks),
                {}, fmt::format("make batch_size a multiple of {}", ranks));
  }
  whole.ranks = ranks;
  return whole;
}

Result<std::unique_ptr<Trainable>> make_leader(const TrainingSpec& whole, Communicator& peers,
                                               const MakePart& make_part) {
  auto part = split_over(whole, peers.size());
  if (!part) return propagate(part);
  // Checked here, so that no other rank meets an error of the configuration.
  if (auto ok = check_spec(*part); !ok) return propagate(ok);
  order(peers, Command::Kind::make);
  share(peers, *part);
  auto timed = std::make_unique<TimedCommunicator>(peers);
  auto own = make_part(*part, *timed);
  if (!own) return propagate(own);
  return std::make_unique<Leader>(*part, std::move(timed), *std::move(own));
}

void dismiss_followers(Communicator& peers, int exit_code) {
  order(peers, Command::Kind::end, exit_code);
}

Result<int> follow(Communicator& peers, const MakePart& make_part) {
  return Follower(peers, make_part).run();
}

}  // namespace trainward::trainer
