#include "trainer/loop/checkpoints/checkpointing.hpp"

#include <algorithm>
#include <set>

#include "checkpoint/disk/latest.hpp"
#include "checkpoint/retention.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"

namespace trainward::trainer {
namespace {

using checkpoint::TensorInfo;
using checkpoint::TensorTarget;
using checkpoint::TensorView;

std::vector<TensorInfo> others(const std::vector<TensorInfo>& there,
                               const std::vector<TensorTarget>& ours) {
  std::set<std::string_view> known;
  for (const TensorTarget& target : ours) known.insert(target.info.name);
  std::vector<TensorInfo> rest;
  std::copy_if(there.begin(), there.end(), std::back_inserter(rest),
               [&](const TensorInfo& info) { return !known.contains(info.name); });
  return rest;
}

std::uint64_t bytes_of(const std::vector<TensorInfo>& infos) {
  std::uint64_t sum = 0;
  for (const TensorInfo& info : infos) sum += checkpoint::byte_count(info).value_or(0);
  return sum;
}

// Gives each of them a place in `room`, and adds it to what is read and to what is carried.
void place(const std::vector<TensorInfo>& infos, std::span<std::byte>& room,
           std::vector<TensorTarget>& targets, std::vector<TensorView>& views) {
  for (const TensorInfo& info : infos) {
    const auto bytes = room.first(checkpoint::byte_count(info).value_or(0));
    room = room.subspan(bytes.size());
    targets.push_back({info, bytes});
    views.push_back({info, bytes});
  }
}

}  // namespace

Result<Carried> restore(const checkpoint::Reader& reader, Trainable& model,
                        std::int64_t steps_done) {
  Carried carried;
  carried.extra = foreign_keys(reader.state());
  const auto fill = [&](const std::vector<TensorTarget>& model_targets,
                        const std::vector<TensorTarget>& optimizer_targets) -> Status {
    std::vector<TensorTarget> model_all = model_targets;
    std::vector<TensorTarget> optimizer_all = optimizer_targets;
    const auto other_model = others(reader.model(), model_targets);
    const auto other_optimizer = others(reader.optimizer(), optimizer_targets);
    auto memory =
        checkpoint::AlignedMemory::allocate(bytes_of(other_model) + bytes_of(other_optimizer));
    if (!memory) return propagate(memory);
    carried.memory = std::move(*memory);
    std::span<std::byte> room = carried.memory.bytes();
    place(other_model, room, model_all, carried.model);
    place(other_optimizer, room, optimizer_all, carried.optimizer);
    const MonoTime began = now().mono;
    auto read = reader.read_into(model_all, optimizer_all);
    carried.read_ms = now().mono - began;
    return read;
  };
  if (auto ok = model.restore(fill, steps_done); !ok) return propagate(ok);
  return carried;
}

Checkpointing::Checkpointing(std::filesystem::path root, Trainable& model, RunFacts facts,
                             Carried carried, checkpoint::SaveOptions options, Reporter& reporter)
    : root_(std::move(root)),
      model_(model),
      facts_(std::move(facts)),
      carried_(std::move(carried)),
      options_(std::move(options)),
      reporter_(reporter),
      saver_(root_, options_) {}

Checkpointing::~Checkpointing() {
  if (memory_ == nullptr) return;
  memory_->settle();
  model_.before_update({});
}

checkpoint::Contents Checkpointing::contents(const Progress& progress) const {
  checkpoint::Contents contents{to_state(progress, facts_), model_.model_state(),
                                model_.optimizer_state()};
  for (const auto& [key, value] : carried_.extra) contents.state.extra.emplace(key, value);
  contents.model.insert(contents.model.end(), carried_.model.begin(), carried_.model.end());
  contents.optimizer.insert(contents.optimizer.end(), carried_.optimizer.begin(),
                            carried_.optimizer.end());
  return contents;
}

void Checkpointing::reserve(std::optional<std::int64_t> available) {
  const checkpoint::Contents sample = contents({});
  std::uint64_t bytes = 0;
  for (const auto* views : {&sample.model, &sample.optimizer}) {
    for (const TensorView& view : *views) bytes += view.bytes.size();
  }
  // As much again must stay free for everything else; no process must be killed for a checkpoint.
  const bool fits =
      !available || 2 * bytes <= static_cast<std::uint64_t>(std::max<std::int64_t>(*available, 0));
  const Status taken = fits ? saver_.reserve(sample) : Status();
  in_background_ = fits && taken;
  if (in_background_) return;
  reporter_.status(fmt::format(
      "checkpoints of {} are written while the training waits: {}", human_bytes(bytes),
      fits
          ? taken.error().message()
          : fmt::format("a copy in memory needs {} to be available, {} are", human_bytes(2 * bytes),
                        human_bytes(static_cast<std::uint64_t>(
                            std::max<std::int64_t>(available.value_or(0), 0))))));
}

void Checkpointing::use_memory(StateInMemory& memory, std::optional<std::int64_t> available,
                               bool spare) {
  memory_ = &memory;
  settles_ = model_.before_update([&memory] { memory.settle(); });
  checkpoint::Contents sample = contents({});
  // A save in the background has memory of its own, which it has not touched yet.
  const std::uint64_t promised = in_background_ ? checkpoint::slot_bytes(sample).value_or(0) : 0;
  memory.reserve(std::move(sample), available, promised, spare);
}

void Checkpointing::remember(const Progress& progress, std::chrono::nanoseconds took) {
  if (memory_ == nullptr) return;
  const bool begun = memory_->remember(took, [&]() -> Result<checkpoint::Contents> {
    if (auto gathered = model_.gather_state(); !gathered) return propagate(gathered);
    return contents(progress);
  });
  if (begun && !settles_) memory_->settle();
}

std::int64_t Checkpointing::in_memory() const { return memory_ == nullptr ? 0 : memory_->step(); }

Status Checkpointing::begin(const Progress& progress) {
  if (memory_ != nullptr) memory_->settle();  // gathering overwrites what it reads
  if (auto gathered = model_.gather_state(); !gathered) return gathered;
  if (in_background_) {
    auto begun = saver_.begin(contents(progress));
    if (begun || saver_.pending()) return begun;
    // What was promised for the copy is not there after all.
    in_background_ = false;
    reporter_.status(fmt::format("checkpoints are written while the training waits from now on: {}",
                                 begun.error().message()));
  }
  done_ = Outcome{progress.step, checkpoint::save(root_, contents(progress), options_), 0};
  return {};
}

// What is saved counts; that its name could not be written beside it is told once.
std::optional<CheckpointPort::Outcome> Checkpointing::with_hint(std::optional<Outcome> outcome) {
  if (!outcome || !outcome->folder || hint_told_) return outcome;
  const std::string problem = checkpoint::latest_problem(*outcome->folder);
  if (problem.empty()) return outcome;
  hint_told_ = true;
  reporter_.status(fmt::format(
      "checkpoints are saved, but the file 'latest' beside them does not name the newest: {}",
      problem));
  return outcome;
}

std::optional<std::int64_t> Checkpointing::pending() const {
  return done_ ? std::optional(done_->step) : saver_.pending();
}

std::optional<CheckpointPort::Outcome> Checkpointing::take() {
  // Asked after every step: now the first is done, for which a run that resumes is waited for.
  if (in_background_) saver_.warm_up();
  return with_hint(done_ ? std::exchange(done_, std::nullopt) : saver_.take());
}

std::optional<CheckpointPort::Outcome> Checkpointing::wait() {
  return with_hint(done_ ? std::exchange(done_, std::nullopt) : saver_.wait());
}

// A pin made by hand has another text, and stays.
Status Checkpointing::keep(const std::vector<Evaluated>& best) {
  constexpr std::string_view why = "one of the lowest evaluation losses";
  auto present = checkpoint::list(root_);
  if (!present) return propagate(present);
  for (const checkpoint::Summary& one : *present) {
    const auto place = std::find_if(best.begin(), best.end(),
                                    [&](const Evaluated& of) { return of.step == one.step; });
    Status done;
    if (place != best.end()) {
      if (!checkpoint::is_pinned(one.path)) {
        done = checkpoint::pin(one.path, fmt::format("{}: {:.6g}", why, place->loss));
      }
    } else if (checkpoint::pinned_because(one.path).starts_with(why)) {
      done = checkpoint::unpin(one.path);
    }
    if (!done) return done;
  }
  return {};
}

}  // namespace trainward::trainer
