#include "supervisor/record/metrics/collector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "common/os/clock.hpp"
#include "hwprobe/report/report.hpp"
#include "supervisor/decide/core/phase.hpp"
#include "supervisor/record/metrics/host.hpp"

namespace trainward::metrics {
namespace {

constexpr std::int64_t least_age_ms = 1'000;
constexpr std::int64_t steps_of_rate = 16;

// The database stores NaN as infinity.
std::optional<double> as_told(std::optional<double> value) {
  if (value && !std::isfinite(*value)) value = std::numeric_limits<double>::quiet_NaN();
  return value;
}

bool usable_word(const std::string& verdict) {
  using hwprobe::Verdict;
  for (const Verdict usable : {Verdict::ok, Verdict::degraded, Verdict::busy}) {
    if (verdict == hwprobe::to_string(usable)) return true;
  }
  return false;
}

// From the newest and the oldest step that an attempt told. The step it told first has its share of
// what lies between them, times the steps since it went on; of a single one that is not known.
std::optional<std::int64_t> tokens_between(const store::StepRow& first, const store::StepRow& last,
                                           const store::AttemptFigures& attempt) {
  if (!first.tokens || !last.tokens) return std::nullopt;
  const std::int64_t began = attempt.told_to_resume ? attempt.resume_step : first.step - 1;
  if (began == 0) return std::max<std::int64_t>(*last.tokens, 0);
  if (last.step <= first.step) return 0;
  const std::int64_t between = *last.tokens - *first.tokens;
  const double each = static_cast<double>(between) / static_cast<double>(last.step - first.step);
  const double before = each * static_cast<double>(std::max<std::int64_t>(first.step - began, 0));
  return std::max<std::int64_t>(between + static_cast<std::int64_t>(before), 0);
}

}  // namespace

Collector::Span& Collector::span_of(Program& program, const std::string& phase,
                                    const std::string& cause) {
  for (Span& span : program.spans) {
    if (span.phase == phase && span.cause == cause) return span;
  }
  return program.spans.emplace_back(Span{phase, cause});
}

Status Collector::read_sums(const store::Store& store) {
  auto ledger = store.ledger_after(ledger_id_);
  if (!ledger) return propagate(ledger);
  auto compiled = store.compiled_after(compiled_id_);
  if (!compiled) return propagate(compiled);
  for (const auto& sum : ledger->sums) {
    span_of(programs_[sum.program], sum.phase, sum.cause).booked_ms += sum.ms;
  }
  for (const auto& [name, ms] : ledger->newest_save_ms) programs_[name].save_ms = ms;
  ledger_id_ = ledger->newest_id;
  for (const auto& sum : compiled->sums) {
    programs_[sum.program].cache_hits += sum.hits;
    programs_[sum.program].cache_misses += sum.misses;
  }
  compiled_id_ = compiled->newest_id;
  return {};
}

Result<std::optional<std::int64_t>> Collector::tokens_of(const store::Store& store,
                                                         const std::string& program,
                                                         const store::AttemptFigures& attempt) {
  using End = store::Store::FromEnd;
  auto first = store.told_by(program, attempt.number, End::oldest);
  if (!first) return propagate(first);
  if (!*first) return std::nullopt;
  auto last = store.told_by(program, attempt.number, End::newest);
  if (!last) return propagate(last);
  return tokens_between(**first, **last, attempt);
}

// The steps of attempts that have ended, as far as it is known what became of them.
Status Collector::settle(const store::Store& store, Program& program) {
  std::int64_t newest_ended = 0;
  for (const auto& attempt : program.unsettled) {
    if (attempt.ended) newest_ended = attempt.number;
  }
  if (newest_ended == 0) return {};
  auto rows =
      store.steps_of_attempts(program.figures.name, program.unsettled.front().number, newest_ended);
  if (!rows) return propagate(rows);
  std::size_t settled = 0;
  for (; settled < rows->size() && settled < program.unsettled.size(); ++settled) {
    const auto& row = (*rows)[settled];
    // One that did no step has none to lose.
    if (!row.lost && program.unsettled[settled].last_step > 0) break;
    program.steps.kept += row.kept;
    program.steps.lost = program.steps.lost.value_or(0) + row.lost.value_or(0);
    program.steps.replayed += row.replayed;
    program.settled = row.number;
  }
  program.unsettled.erase(program.unsettled.begin(),
                          program.unsettled.begin() + static_cast<std::ptrdiff_t>(settled));
  return {};
}

Status Collector::read_attempts(const store::Store& store, Program& program) {
  const std::string& name = program.figures.name;
  auto attempts = store.attempts_after(name, program.settled);
  if (!attempts) return propagate(attempts);
  if (attempts->empty()) return {};
  if (program.first_begin_ms == 0) program.first_begin_ms = attempts->front().begin_ms;
  if (!program.thinned) {
    auto thinned = store.steps_were_thinned(name);
    if (!thinned) return propagate(thinned);
    program.thinned = *thinned;
  }
  if (!program.newest || program.newest->number != attempts->back().number) program.first.reset();
  program.newest = attempts->back();
  for (const auto& attempt : *attempts) {
    if (!attempt.ended || attempt.number <= program.counted) continue;
    auto tokens =
        *program.thinned ? std::optional<std::int64_t>() : tokens_of(store, name, attempt);
    if (!tokens) return propagate(tokens);
    if (*tokens) program.tells_tokens = true;
    program.ended_tokens += tokens->value_or(0);
    ++program.ended[attempt.cause];
    program.counted = attempt.number;
  }
  if (program.unsettled == *attempts) return {};
  program.unsettled = std::move(*attempts);
  return settle(store, program);
}

Status Collector::read_steps(const store::Store& store, Program& program) {
  using End = store::Store::FromEnd;
  ProgramFigures& figures = program.figures;
  auto told = store.newest_told(figures.name);
  if (!told) return propagate(told);
  const auto& attempt = program.newest;
  const bool runs = attempt && !attempt->ended;
  std::int64_t tokens = program.ended_tokens;
  figures.told = {};
  figures.devices.clear();
  figures.steps_per_second.reset();
  if (*told) {
    const store::StepRow& newest = **told;
    figures.step = newest.step;
    figures.step_ms = newest.at_ms;
    const bool is_running = runs && newest.attempt == attempt->number;
    for (const StepFigure& figure : step_figures) {
      if (!is_running && figure.lasts == FigureLasts::while_it_runs) continue;
      if (const auto value = as_told(value_of(newest, figure))) put(figures.told, figure, *value);
    }
    if (is_running) {
      auto devices = store.devices(figures.name, attempt->number);
      if (!devices) return propagate(devices);
      figures.devices = std::move(*devices);
      if (!program.first) {
        auto first = store.told_by(figures.name, attempt->number, End::oldest);
        if (!first) return propagate(first);
        program.first = *first;
      }
      auto before = store.told_by(figures.name, attempt->number, End::newest, steps_of_rate - 1);
      if (!before) return propagate(before);
      const auto& from = *before ? *before : program.first;
      if (from && newest.step > from->step && newest.at_ms > from->at_ms) {
        figures.steps_per_second = 1000.0 * static_cast<double>(newest.step - from->step) /
                                   static_cast<double>(newest.at_ms - from->at_ms);
      }
      if (program.first) {
        const auto of_this = tokens_between(*program.first, newest, *attempt);
        if (of_this) program.tells_tokens = true;
        tokens += of_this.value_or(0);
      }
    }
  } else if (attempt) {
    figures.step = attempt->last_step;
  }
  if (program.tells_tokens && !program.thinned.value_or(false)) {
    program.shown_tokens = std::max(program.shown_tokens, tokens);
    figures.tokens_processed = program.shown_tokens;
  }
  auto evaluated = store.newest_evaluation(figures.name);
  if (!evaluated) return propagate(evaluated);
  figures.evaluation_loss = as_told(*evaluated);
  return {};
}

Status Collector::read_program(const store::Store& store, const store::ProgramNow& row) {
  Program& program = programs_[row.name];
  ProgramFigures& figures = program.figures;
  figures.name = row.name;
  figures.state = core::shown_from(row.state);
  figures.target_step = row.target_step;
  figures.wanted = row.wanted;
  program.open = row.open;
  if (auto read = read_attempts(store, program); !read) return read;
  if (auto read = read_steps(store, program); !read) return read;
  auto kept = store.newest_kept(row.name);
  if (!kept) return propagate(kept);
  const auto& attempt = program.newest;
  figures.kept_ms.reset();
  figures.checkpoint_bytes.reset();
  figures.kept_step = *kept ? (*kept)->step : attempt ? attempt->kept_step : 0;
  if (*kept) {
    figures.kept_ms = (*kept)->at_ms;
    figures.checkpoint_bytes = (*kept)->bytes;
  } else if (attempt && attempt->told_to_resume && program.first_begin_ms > 0) {
    figures.kept_ms = program.first_begin_ms;
  }
  figures.attempt = attempt ? attempt->number : 0;
  figures.ended = program.ended;
  figures.steps_kept = program.steps.kept;
  figures.steps_lost = program.steps.lost.value_or(0);
  figures.steps_replayed = program.steps.replayed;
  figures.checkpoint_save_ms = program.save_ms;
  figures.cache_hits = program.cache_hits;
  figures.cache_misses = program.cache_misses;
  figures.checkpoints["verified"] = row.verified;
  figures.checkpoints["corrupt"] = row.corrupt;
  figures.checkpoints["pruned"] = row.pruned;
  return {};
}

Status Collector::refresh(const store::Store& store) {
  const auto one_state = store.snapshot();
  auto rows = store.programs_now();
  if (!rows) return propagate(rows);
  if (auto read = read_sums(store); !read) return read;
  shown_.clear();
  for (const store::ProgramNow& row : *rows) {
    if (auto read = read_program(store, row); !read) return read;
    shown_.push_back(row.name);
  }
  auto boards = store.board_rows();
  if (!boards) return propagate(boards);
  boards_.clear();
  for (auto& board : *boards) {
    const bool usable = usable_word(board.verdict);
    boards_.push_back({std::move(board.serial), std::move(board.type), std::move(board.bus_id),
                       usable, board.temperature_c, board.limit_c, board.power_w, board.clock_mhz,
                       board.aer_correctable, board.aer_nonfatal, board.aer_fatal});
  }
  return {};
}

// With the span that goes on, as of now.
void Collector::show_time(Program& program, Time now) {
  std::int64_t open_ms = 0;
  if (program.open) {
    const store::ProgramNow::Open& open = *program.open;
    // As it will be booked; without a daemon only the times on record can be told.
    const bool by_mono = now.mono.ms > 0 && open.since.mono.ms > 0;
    open_ms = by_mono ? now.mono - open.since.mono : now.wall - open.since.wall;
    open_ms = std::max<std::int64_t>(open_ms, 0);
    const bool known = std::ranges::any_of(program.spans, [&](const Span& span) {
      return span.phase == open.phase && span.cause == open.cause;
    });
    if (!known) program.spans.push_back({open.phase, open.cause});
  }
  std::int64_t total = 0;
  std::int64_t effective = 0;
  program.figures.spent.clear();
  for (Span& span : program.spans) {
    const bool goes_on =
        program.open && program.open->phase == span.phase && program.open->cause == span.cause;
    span.shown_ms = std::max(span.shown_ms, span.booked_ms + (goes_on ? open_ms : 0));
    total += span.shown_ms;
    if (span.phase == core::to_string(core::Phase::stepping)) effective += span.shown_ms;
    program.figures.spent.push_back(
        {span.phase, span.cause, static_cast<double>(span.shown_ms) / 1000.0});
  }
  program.figures.effective_share.reset();
  if (total > 0) {
    program.figures.effective_share = static_cast<double>(effective) / static_cast<double>(total);
  }
}

constexpr std::array host_counters = {
    std::pair{"busy", &HostFigures::busy_seconds},
    std::pair{"idle", &HostFigures::idle_seconds},
    std::pair{"iowait", &HostFigures::iowait_seconds},
    std::pair{"stalled_cpu", &HostFigures::stalled_cpu_seconds},
    std::pair{"stalled_io", &HostFigures::stalled_io_seconds},
    std::pair{"stalled_memory", &HostFigures::stalled_memory_seconds}};

void Collector::go_on_from(const Shown& shown) {
  for (const auto& [name, before] : shown.programs) {
    const auto found = programs_.find(name);
    if (found == programs_.end()) continue;
    Program& program = found->second;
    const bool another = before.began_ms != 0 && program.first_begin_ms != 0 &&
                         before.began_ms != program.first_begin_ms;
    if (another) continue;
    for (const auto& [span, ms] : before.spans) {
      std::int64_t& shown_ms = span_of(program, span.first, span.second).shown_ms;
      shown_ms = std::max(shown_ms, ms);
    }
    program.shown_tokens = std::max(program.shown_tokens, before.tokens);
    if (program.figures.tokens_processed) program.figures.tokens_processed = program.shown_tokens;
  }
  if (shown.boot.empty() || shown.boot != boot_) return;
  for (const auto& [name, counter] : host_counters) {
    const auto found = shown.host.find(name);
    if (found == shown.host.end()) continue;
    host_.*counter = std::max(host_.*counter, std::optional(found->second));
  }
}

Shown Collector::shown_now() const {
  Shown out;
  for (const auto& [name, program] : programs_) {
    Shown::Program& one = out.programs[name];
    one.began_ms = program.first_begin_ms;
    one.tokens = program.shown_tokens;
    for (const Span& span : program.spans) one.spans[{span.phase, span.cause}] = span.shown_ms;
  }
  out.boot = boot_;
  for (const auto& [name, counter] : host_counters) {
    if (const auto& seconds = host_.*counter) out.host[name] = *seconds;
  }
  return out;
}

// The kernel's own counters may go back a little (proc(5), iowait); what is told does not.
void Collector::look_at_host(const std::filesystem::path& root) {
  const HostFigures now = metrics::look_at_host(root);
  host_.memory_bytes = now.memory_bytes;
  host_.available_bytes = now.available_bytes;
  for (const auto& [name, counter] : host_counters) {
    host_.*counter = std::max(host_.*counter, now.*counter);  // unset is the least
  }
}

Result<Snapshot> Collector::snapshot(const store::Store& store, const Live& live, Time now) {
  auto mark = store.mark();
  if (!mark) return propagate(mark);
  const std::string connection = mark->substr(0, mark->find('.'));
  if (connection != connection_) {
    programs_.clear();
    shown_.clear();
    ledger_id_ = compiled_id_ = 0;
    connection_ = connection;
    mark_.clear();
    read_at_.reset();
    goes_on_ = false;
  }
  const bool just_shown = as_of_ && now.mono.ms > 0 && now.mono >= as_of_->mono &&
                          now.mono - as_of_->mono < least_age_ms;
  if (!just_shown) as_of_ = now;
  const bool young = read_at_ && now.mono >= *read_at_ && now.mono - *read_at_ < least_age_ms;
  if (*mark != mark_ && !young) {
    if (auto read = refresh(store); !read) {
      connection_.clear();  // half of it may have been added up
      return propagate(read);
    }
    mark_ = *mark;
    read_at_ = now.mono;
  }
  const auto state = std::ranges::find_if(live.folders, [](const WatchedFolder& folder) {
    return folder.folder == "state" && folder.program.empty();
  });
  look_at_host(live.root);
  boot_ = boot_id();
  if (!goes_on_ && state != live.folders.end()) go_on_from(read_shown(state->path));
  goes_on_ = true;
  Snapshot snapshot;
  snapshot.version = live.version;
  snapshot.daemon = live.daemon;
  for (const std::string& name : shown_) {
    Program& program = programs_[name];
    show_time(program, *as_of_);
    snapshot.programs.push_back(program.figures);
  }
  // Before anybody sees it. On a disk that is full it is shown all the same.
  if (live.daemon && state != live.folders.end()) {
    if (Shown shown = shown_now(); shown != kept_) {
      if (keep_shown(state->path, shown)) kept_ = std::move(shown);
    }
  }
  snapshot.boards = boards_;
  snapshot.disks = disks_.look(live.folders);
  snapshot.host = host_;
  if (live.courier) snapshot.courier = live.courier();
  return snapshot;
}

}  // namespace trainward::metrics
