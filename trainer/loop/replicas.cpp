#include "trainer/loop/replicas.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/number_in.hpp"
#include "common/os/folder.hpp"

namespace trainward::trainer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* dispute_file = "replicas-differ.json";
constexpr std::size_t max_dispute_bytes = 64 * 1024;
constexpr double most_share = 0.001;   // of the time
constexpr double longest_pause = 1e6;  // steps

json::object to_json(const Dispute& dispute) {
  json::object object{{"step", dispute.step}, {"since", dispute.since}};
  // As text: a JSON number need not hold 64 bits.
  json::array& sums = object["checksums"].emplace_array();
  for (const std::uint64_t sum : dispute.checksums) sums.emplace_back(fmt::format("{:016x}", sum));
  object["names"] = json::value_from(dispute.names);
  return object;
}

Result<Dispute> parse_dispute(std::string_view bytes) {
  const auto damaged = [] { return fail(ErrorKind::corrupt, "is damaged", dispute_file); };
  const auto parsed = parse_json(bytes, dispute_file);
  if (!parsed || !parsed->is_object()) return damaged();
  const json::object& object = parsed->get_object();
  Dispute dispute{int_or(object, "step", 0), int_or(object, "since", 0), {}, {}};
  const auto names = get_array(object, "names");
  const auto sums = get_array(object, "checksums");
  if (!names || !sums || dispute.step < 1) return damaged();
  for (const json::value& name : **names) {
    if (name.is_string()) dispute.names.emplace_back(name.get_string());
  }
  for (const json::value& sum : **sums) {
    if (!sum.is_string()) return damaged();
    const auto value = number_in<std::uint64_t>(std::string_view(sum.get_string()), 16);
    if (!value) return damaged();
    dispute.checksums.push_back(*value);
  }
  return dispute;
}

// Nothing without one.
Result<std::optional<Dispute>> read_dispute(const std::filesystem::path& root) {
  auto folder = Folder::open(root);
  if (!folder) return std::nullopt;
  const auto bytes = folder->read(dispute_file, max_dispute_bytes);
  if (!bytes) return std::nullopt;
  auto dispute = parse_dispute(*bytes);
  if (!dispute) return propagate(dispute);
  return std::move(*dispute);
}

Status write_dispute(const std::filesystem::path& root, const Dispute& dispute) {
  auto folder = Folder::open(root);
  if (!folder) return propagate(folder);
  return folder->write_durably(dispute_file, json::serialize(to_json(dispute)));
}

bool alike(const std::vector<std::uint64_t>& checksums, std::size_t columns) {
  for (std::size_t i = columns; i < checksums.size(); ++i) {
    if (checksums[i] != checksums[i - columns]) return false;
  }
  return true;
}

// Those of columns whose copies are not alike.
std::vector<std::size_t> disputed(const std::vector<std::uint64_t>& checksums,
                                  std::size_t columns) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < checksums.size(); ++i) {
    for (std::size_t k = i % columns; k < checksums.size(); k += columns) {
      if (checksums[k] == checksums[i]) continue;
      which.push_back(i);
      break;
    }
  }
  return which;
}

// What more than half of the copies are whose place is `column`, or nothing.
std::optional<std::uint64_t> majority(const std::vector<std::uint64_t>& checksums,
                                      std::size_t column, std::size_t columns) {
  std::map<std::uint64_t, std::size_t> votes;
  for (std::size_t i = column; i < checksums.size(); i += columns) ++votes[checksums[i]];
  for (const auto& [sum, count] : votes) {
    if (2 * count * columns > checksums.size()) return sum;
  }
  return std::nullopt;
}

void forget_dispute(const std::filesystem::path& root) {
  auto folder = Folder::open(root);
  if (folder) (void)folder->remove_file(dispute_file);
}

}  // namespace

std::optional<std::vector<std::size_t>> outside_majority(
    const std::vector<std::uint64_t>& checksums, std::size_t columns) {
  std::vector<std::size_t> outside;
  for (std::size_t column = 0; column < columns; ++column) {
    const auto right = majority(checksums, column, columns);
    if (!right) return std::nullopt;
    for (std::size_t i = column; i < checksums.size(); i += columns) {
      if (checksums[i] != *right) outside.push_back(i);
    }
  }
  std::ranges::sort(outside);
  return outside;
}

Replicas::Replicas(Options options, Trainable& model, Reporter& reporter)
    : options_(std::move(options)),
      model_(model),
      reporter_(reporter),
      agreed_(options_.step),
      next_(options_.step + 1) {
  if (auto dispute = read_dispute(options_.root)) {
    dispute_ = std::move(*dispute);
  } else {
    reporter_.corruption("which device was wrong stays open: " + dispute.error().message());
    forget_dispute(options_.root);
  }
  // What was disputed is repeated only from a step that is not later.
  if (dispute_ && options_.step >= dispute_->step) {
    forget_dispute(options_.root);
    dispute_.reset();
  }
}

bool Replicas::due(std::int64_t step) const {
  if (dispute_ && dispute_->step == step) return true;
  return options_.every > 0 ? step % options_.every == 0 : step >= next_;
}

Status Replicas::after_step(std::int64_t step, std::chrono::nanoseconds took) {
  const auto ns = static_cast<double>(took.count());
  step_ns_ = step_ns_ == 0 ? ns : 0.9 * step_ns_ + 0.1 * ns;
  return due(step) ? compare(step) : Status();
}

Status Replicas::after_lost_step(std::int64_t steps_done) {
  const auto checksums = model_.checksums();
  return !checksums || alike(*checksums, options_.columns) ? Status()
                                                           : differ(steps_done, *checksums);
}

Status Replicas::before_save(std::int64_t step) {
  return step == agreed_ ? Status() : compare(step);
}

Status Replicas::compare(std::int64_t step) {
  const auto began = Clock::now();
  auto checksums = model_.checksums();
  if (!checksums) return propagate(checksums);
  const std::chrono::duration<double, std::nano> took = Clock::now() - began;
  if (!alike(*checksums, options_.columns)) return differ(step, *checksums);
  if (dispute_ && dispute_->step == step) settle_dispute(*checksums);
  agreed_ = step;
  const double pause = std::ceil(took.count() / (most_share * std::max(step_ns_, 1.0)));
  next_ = step + static_cast<std::int64_t>(std::clamp(pause, 1.0, longest_pause));
  return {};
}

std::string Replicas::names_of(const std::vector<std::size_t>& which) const {
  std::vector<std::string> names;
  names.reserve(which.size());
  for (const std::size_t i : which) {
    names.push_back(i < options_.names.size() ? options_.names[i] : fmt::format("number {}", i));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Status Replicas::differ(std::int64_t step, const std::vector<std::uint64_t>& checksums) {
  const std::string when =
      fmt::format("after step {} (all were alike after step {})", step, agreed_);
  if (const auto outside = outside_majority(checksums, options_.columns)) {
    const std::string others = options_.columns == 1
                                   ? fmt::format("the other {}", checksums.size() - outside->size())
                                   : "the others of their column";
    return fail(ErrorKind::transient,
                fmt::format("silent corruption: the parameters on {} are not those of {} {}",
                            names_of(*outside), others, when),
                {},
                "the run resumes from its last checkpoint, which all agreed on; take the board "
                "out if it is named again");
  }
  const std::vector<std::size_t> all = disputed(checksums, options_.columns);
  std::string then =
      "the next attempt repeats these steps, and names the wrong one if it went wrong in the last "
      "of "
      "them; checksum_every: 1 makes sure of that";
  if (auto kept = write_dispute(options_.root, {step, agreed_, options_.names, checksums}); !kept) {
    then = "which one is wrong stays open: " + kept.error().message();
  }
  return fail(ErrorKind::transient,
              fmt::format("silent corruption: the parameters on {} differ {}", names_of(all), when),
              {}, then);
}

void Replicas::settle_dispute(const std::vector<std::uint64_t>& checksums) {
  const Dispute dispute = *std::exchange(dispute_, std::nullopt);
  forget_dispute(options_.root);
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < dispute.checksums.size(); ++i) {
    if (dispute.checksums[i] != checksums[i % options_.columns]) wrong.push_back(i);
  }
  const bool comparable = dispute.names == options_.names;
  if (!comparable || wrong.size() == dispute.checksums.size()) {
    reporter_.corruption(fmt::format(
        "which device was wrong stays open: step {} was repeated after silent corruption{}",
        dispute.step, comparable ? ", and no earlier copy is that of now" : " on other devices"));
    return;
  }
  reporter_.corruption(fmt::format(
      "{} was wrong at step {}: repeated, the steps since {} give what the others had; take the "
      "board out if it is named again",
      names_of(wrong), dispute.step, dispute.since));
}

}  // namespace trainward::trainer
