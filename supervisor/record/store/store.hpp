// The run database: one SQLite file (WAL, foreign keys, STRICT tables, schema version in
// user_version). The daemon is the only writer; anything may read. docs/database.md is its manual,
// and the views are public: their columns only ever grow.
//
// Writes are methods that a Transaction makes atomic: state, journal offset and whatever an event
// caused are committed together, before any side effect. One thread owns a Store. SQLite's
// exceptions end here and come out as Error (transient: busy, full; corrupt: damaged file).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "common/os/clock.hpp"
#include "supervisor/record/store/figures.hpp"
#include "supervisor/record/store/rows/rows.hpp"

namespace trainward::store {

inline constexpr std::int64_t samples_kept = 1000;
inline constexpr std::int64_t attempts_with_devices = 1000;
inline constexpr std::int64_t most_curve_buckets = 10'000;

class Store {
 public:
  // Opens or makes the file (mode 0640) and migrates it; refuses a newer schema, a foreign file,
  // and one of ours with somebody else's triggers or views in it (permanent).
  static Result<Store> open(const std::filesystem::path& file);
  // For readers: never writes, works while a daemon writes and when none runs. Kind permanent with
  // a hint when the file does not exist.
  static Result<Store> open_read_only(const std::filesystem::path& file);
  // What open() would refuse, without changing anything: an older schema passes, since it is
  // migrated.
  static Status check(const std::filesystem::path& file);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  // BEGIN IMMEDIATE … COMMIT; rolled back when destroyed without commit().
  class Transaction {
   public:
    Transaction(Transaction&&) noexcept;
    Transaction& operator=(Transaction&&) = delete;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    Status commit();

   private:
    friend class Store;
    struct Impl;
    explicit Transaction(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  // What a commit survives. `process`: the death of this process at any instruction; after a power
  // cut the database is whole, and may lack the last second, which the journals still have (no
  // worker outlives a power cut). `power`: that too; for what nobody else knows, such as a wish of
  // the operator. Costs an fsync.
  enum class Survives { process, power };
  Result<Transaction> begin(Survives survives = Survives::power);
  // As long as what it returns lives all reads see one state of the database.
  [[nodiscard]] std::shared_ptr<void> snapshot() const;
  // Called within every commit of this Store's connection, before it is known to have succeeded, on
  // the thread that commits: it may note that there is something to look for, and nothing else.
  void on_commit(std::function<void()> committing);

  [[nodiscard]] const std::filesystem::path& file() const;
  // Grows with every message and checkpoint that this Store has written, committed or not.
  [[nodiscard]] std::int64_t deliverable() const;

  // ---- writing ----
  Status put_boot_id(const std::string& boot_id, std::int64_t at_ms);
  Status put_program(const ProgramRow& row);       // insert or update by name
  Status remove_program(const std::string& name);  // keeps its history; hides it from v_status
  Status put_attempt(const AttemptRow& row);       // insert or update by (program, number)
  Status put_processes(const ProcessesRow& row);   // of an attempt that is there
  Status set_journal_offset(const std::string& program, std::int64_t attempt, std::int64_t offset);
  Status add_evidence(const std::string& program, std::int64_t attempt, const EvidenceRow& row);
  // Also into the buckets of curve_json().
  Status add_step(const std::string& program, const StepRow& row);
  // Of steps older than the newest `keep` (0: all stay) the rows go and their buckets of 64 stay; a
  // call takes at most `most_buckets` of them, the oldest first. The first and the newest 64 rows
  // stay in any case. What report says, and what attempts come to, does not change.
  Status thin_steps(const std::string& program, std::int64_t keep, int most_buckets);
  // Made again by the same attempt: the newer counts.
  Status add_evaluation(const std::string& program, const EvaluationRow& row);
  // What is there of these devices in the attempt gets the newest figures, and the sums of both. Of
  // the newest `attempts_with_devices` of a program.
  Status add_devices(const std::string& program, const std::vector<DeviceRow>& rows);
  // The newest `samples_kept` of a program stay.
  Status add_sample(const std::string& program, const SampleRow& row);
  Status add_compiled(const std::string& program, const CompiledRow& row);
  Status add_event(const EventRow& row);  // id is assigned
  Status add_span(const std::string& program, const SpanRow& row);
  Status add_probe(std::int64_t at_ms, const std::string& source, const std::string& report_json,
                   std::int64_t duration_ms, const std::string& error);
  Status put_board(const std::string& serial, const std::string& type, const std::string& bus_id,
                   const std::string& verdict, const std::string& reason, std::int64_t at_ms);
  // Faults, quarantine, probation: JSON, whatever the verdict of the newest look is.
  Status put_board_record(const std::string& serial, const std::string& record, std::int64_t at_ms);
  Status add_board_sample(const BoardSampleRow& row);  // by (serial, at_ms)
  // Of samples older than a day the hottest of five minutes stays, of those older than thirty days
  // the hottest of an hour, none for longer than 400 days.
  Status thin_board_samples(const std::string& serial, std::int64_t now_ms);
  Status put_checkpoint(const std::string& program,
                        const CheckpointRow& row);  // by (program, path)
  // Changes only the state of a checkpoint that is known.
  Status mark_checkpoint(const std::string& program, const std::string& path,
                         const std::string& state);

  // ---- what people are told (store_messages.cpp) ----
  // An id that was never given and never will be again, of a message or an episode: the time, or
  // one more than the newest.
  Result<std::int64_t> new_id(std::int64_t now_ms) const;
  // id 0: a new one. Returns the id.
  Result<std::int64_t> add_message(const MessageRow& row);
  // Taken back. It may have been sent meanwhile, if it was due.
  Status drop_message(std::int64_t id);
  // Those that were decided before then, and the episodes that were closed before then.
  Status prune_messages(std::int64_t before_ms);
  Status put_episode(const EpisodeRow& row);  // insert or update by id
  Status put_telling(const std::string& program, const std::string& memory);
  // With an id above `id`, oldest first; dropped ones too.
  Result<std::vector<MessageRow>> messages_after(std::int64_t id, std::int64_t limit) const;
  // Newest first; `before`: with an id below it, none: of all.
  Result<std::vector<MessageRow>> newest_messages(std::optional<std::int64_t> before,
                                                  std::int64_t limit) const;
  // Neither dropped nor due before `not_before_ms`, oldest first, of all programs.
  Result<std::vector<MessageRow>> messages_held_until(std::int64_t not_before_ms) const;
  Result<std::vector<EpisodeRow>> open_episodes(const std::string& program) const;  // oldest first
  Result<std::string> telling(const std::string& program) const;  // "": nothing is remembered
  // Of the digest: how many attempts ended since then, by cause.
  Result<std::vector<std::pair<std::string, std::int64_t>>> ends_since(const std::string& program,
                                                                       std::int64_t since_ms) const;
  // At the newest step not above `step` that told one.
  Result<std::optional<double>> loss_at(const std::string& program, std::int64_t step) const;
  // Of data that is not trained on: the newest that was told before `before_ms`.
  Result<std::optional<double>> evaluation_before(const std::string& program,
                                                  std::int64_t before_ms) const;

  // ---- reading ----
  // Of the newest daemon; nothing: the database is new. Empty: that daemon could not read it.
  Result<std::optional<std::string>> boot_id() const;
  Result<std::vector<ProgramRow>> programs() const;  // not removed, by name
  Result<std::optional<ProgramRow>> program(const std::string& name) const;
  // As it was when it was removed.
  Result<std::optional<ProgramRow>> removed_program(const std::string& name) const;
  Result<std::vector<AttemptRow>> attempts(const std::string& program) const;  // oldest first
  Result<std::optional<AttemptRow>> attempt(const std::string& program, std::int64_t number) const;
  Result<std::optional<ProcessesRow>> processes(const std::string& program,
                                                std::int64_t attempt) const;
  Result<std::int64_t> journal_offset(const std::string& program,
                                      std::int64_t attempt) const;  // 0: none
  // Step of the newest that verified and is still there; 0: none.
  Result<std::int64_t> newest_checkpoint(const std::string& program) const;
  // When the program last kept more than ever before (where it never kept anything: did a step that
  // it had not done), or, later than that, since when it is to run without having been stopped or
  // done in between. 0: never.
  Result<std::int64_t> progress_ms(const std::string& program) const;
  // "" for a board that never did anything worth keeping.
  Result<std::string> board_record(const std::string& serial) const;
  // As the newest look at it saw it; "" for a board nobody has looked at.
  Result<std::string> board_bus_id(const std::string& serial) const;
  Result<std::int64_t> highest_step(const std::string& program) const;  // 0: none
  // The last step that was finished before `wall_ms`, in the attempt that ran then; before its
  // first one the step it was told to go on from. None: no attempt ran, or nothing was seen of it.
  // Of steps that were thinned out: the last of the bucket before.
  Result<std::optional<std::int64_t>> step_at(const std::string& program,
                                              std::int64_t wall_ms) const;
  Result<std::int64_t> step_rows(const std::string& program) const;  // how many steps were recorded
  Result<std::int64_t> newest_ms() const;  // when anything was last recorded; 0: never

  // Changes whenever an answer of this Store may have changed: it is the same only if nothing was
  // written in between, by whomever. Costs a microsecond. Exact inside this process and for this
  // Store alone: two of them never have the same, so that a reader keeps one for as long as its
  // answers are to be compared.
  Result<std::string> mark() const;

  // ---- for metrics (store_figures.cpp): nothing here takes longer for a longer run ----
  Result<std::vector<ProgramNow>> programs_now() const;    // those that were not removed, by name
  Result<LedgerSums> ledger_after(std::int64_t id) const;  // of all programs
  Result<CompiledSums> compiled_after(std::int64_t id) const;  // of all programs
  // With a number above `number`, oldest first.
  Result<std::vector<AttemptFigures>> attempts_after(const std::string& program,
                                                     std::int64_t number) const;
  // As v_attempts has them, oldest first. Takes time with the number of attempts asked for.
  Result<std::vector<StepsOfAttempt>> steps_of_attempts(const std::string& program,
                                                        std::int64_t from, std::int64_t to) const;
  // The step that was done last.
  Result<std::optional<StepRow>> newest_step(const std::string& program) const;
  // The same; what its line did not tell is of the newest of 64 that did.
  Result<std::optional<StepRow>> newest_told(const std::string& program) const;
  // Of the steps that an attempt told, the newest or the oldest but `skip`; none: there are fewer.
  enum class FromEnd { newest, oldest };
  Result<std::optional<StepRow>> told_by(const std::string& program, std::int64_t attempt,
                                         FromEnd from, std::int64_t skip = 0) const;
  Result<bool> steps_were_thinned(const std::string& program) const;
  Result<std::optional<KeptFigures>> newest_kept(const std::string& program) const;
  // None: nothing was evaluated; NaN: its loss was no number.
  Result<std::optional<double>> newest_evaluation(const std::string& program) const;
  Result<std::vector<BoardRow>> board_rows() const;
  // In their order, each with its newest figures.
  Result<std::vector<ToldDevice>> devices(const std::string& program, std::int64_t attempt) const;

  // The JSON that the API serves and `--json` prints (docs/database.md); `now` for ages.
  // Of the configuration, and `also` that one when it is no longer in it: it says so by "removed".
  Result<json::array> status_json(Time now, const std::string& also = {}) const;
  Result<json::array> history_json(const std::string& program) const;  // "" for all
  // Rows of history, the newest first: at most `limit` of those before the attempt `before`.
  Result<json::array> newest_attempts_json(const std::string& program,
                                           std::optional<std::int64_t> before,
                                           std::int64_t limit) const;
  Result<json::object> why_json(const std::string& program,
                                std::optional<std::int64_t> attempt) const;
  // Of the newest step, by the names of step_figures: the numbers it told.
  Result<json::object> figures_json(const std::string& program) const;
  // {"step", "attempt", "loss", "tokens_per_second"} of the step that was done last; {}: none was.
  Result<json::object> newest_step_json(const std::string& program) const;
  Result<json::object> report_json(const std::string& program) const;
  // How a measure went, in at most about `buckets` points; docs/database.md says what is in it.
  // Kind usage for a measure that steps do not have.
  struct CurveQuery {
    std::optional<std::int64_t> from = {};  // absent: the first step on record
    std::optional<std::int64_t> to = {};    // absent: the newest
    std::int64_t buckets = 2000;            // 1 to most_curve_buckets
    std::string metric = "loss";
  };
  Result<json::object> curve_json(const std::string& program, const CurveQuery& query) const;
  // Where the time went, in the `window_seconds` before `now` or (absent) in all of the run, with
  // what the newest span, which is not booked yet, comes to at `now`.
  Result<json::object> ledger_json(const std::string& program,
                                   std::optional<std::int64_t> window_seconds, Time now) const;
  // after_id < 0: the newest `limit`. Oldest first in any case; program "" for all.
  Result<json::array> events_json(const std::string& program, std::int64_t after_id,
                                  int limit) const;
  Result<json::object> probe_json() const;  // newest probe, or {}
  // The newest look at each board, with its newest sample.
  Result<json::array> boards_json() const;
  // after_ms < 0: the newest `limit`. Oldest first in any case; kind usage for an unknown board.
  Result<json::array> board_samples_json(const std::string& serial, std::int64_t after_ms,
                                         int limit) const;
  Result<json::array> checkpoints_json(const std::string& program) const;
  Result<json::array> evaluations_json(const std::string& program) const;  // by step
  // Of the newest attempt that told of them, in their order: the columns of v_devices.
  Result<json::array> devices_json(const std::string& program) const;
  Result<json::array> samples_json(const std::string& program) const;  // by step, as told
  // {"step", "loss"} up to a step, about `most` of them and the first and last: for a curve.
  Result<json::array> losses_json(const std::string& program, std::int64_t up_to_step,
                                  int most) const;
  Result<json::array> compiled_json(const std::string& program) const;  // as it came

  // ---- row by row, in bounded memory: for what copies a run elsewhere (store_copy.cpp) ----
  // The oldest attempt from `number` on; nothing if there is no such attempt.
  Result<std::optional<AttemptRow>> attempt_from(const std::string& program,
                                                 std::int64_t number) const;
  Result<std::optional<AttemptRow>> newest_attempt(const std::string& program) const;
  // Of those that are on record; steps that were thinned out are not.
  Result<std::optional<std::int64_t>> first_step_of(const std::string& program,
                                                    std::int64_t attempt) const;
  // What `attempt` did beyond the step `after`, in the order of steps, at most `limit` rows.
  Status each_step(const std::string& program, std::int64_t attempt, std::int64_t after,
                   std::int64_t limit, const std::function<void(const StepRow&)>& take) const;
  Status each_evaluation(const std::string& program, std::int64_t attempt, std::int64_t after,
                         const std::function<void(const EvaluationRow&)>& take) const;
  // The curve from beyond `after` up to `last`: each step as the newest attempt that did it saw it,
  // of those up to `newest_attempt`.
  struct CurveRange {
    std::int64_t after = 0;
    std::int64_t last = 0;
    std::int64_t newest_attempt = std::numeric_limits<std::int64_t>::max();
  };
  Status each_curve_step(const std::string& program, const CurveRange& range, std::int64_t limit,
                         const std::function<void(const StepRow&)>& take) const;
  Status each_curve_evaluation(const std::string& program, const CurveRange& range,
                               const std::function<void(const EvaluationRow&)>& take) const;
  // The newest evaluation that attempts before this one made of a step before `step`.
  Result<std::optional<std::int64_t>> evaluated_before(const std::string& program,
                                                       std::int64_t attempt,
                                                       std::int64_t step) const;
  // Those of the program among the next `limit` spans of all, as they were booked, from beyond the
  // number `after`. The number of the last one that was looked at: `after` if none was.
  Result<std::int64_t> each_span(const std::string& program, std::int64_t after, std::int64_t limit,
                                 const std::function<void(const SpanRow&)>& take) const;
  // Boards that measured anything while the attempt ran, and what each measured last in
  // (after_ms, up_to_ms].
  Result<std::vector<std::string>> boards_of(const std::string& program) const;
  Result<std::optional<BoardSampleRow>> newest_board_sample(const std::string& serial,
                                                            const std::string& program,
                                                            std::int64_t attempt,
                                                            std::int64_t after_ms,
                                                            std::int64_t up_to_ms) const;
  // When its first attempt was about to start; 0 if it had no attempt.
  Result<std::int64_t> first_attempt_ms(const std::string& program) const;
  // Whether a checkpoint of it was ever found whole.
  Result<bool> has_checkpoints(const std::string& program) const;
  // Where the training that the newest attempt goes on with began: with the newest attempt that was
  // the first, began from nothing, from a checkpoint that was restored, or from one that no attempt
  // before it had reached, and so was brought by hand. Of a program that is not told where to
  // resume, what happens after its first attempt is seen only where it was restored.
  struct Origin {
    std::string nonce;     // of that attempt
    bool goes_on = false;  // from a checkpoint of elsewhere, or from nobody knows where
  };
  Result<std::optional<Origin>> origin(const std::string& program) const;

  // A row of a table as people take it along; what is not known is empty.
  enum class Table { steps, evaluations, attempts, ledger };
  // Of its columns, also while it has no row.
  Result<std::vector<std::string>> names_of(Table table) const;
  using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
  // Of one program, or (program "") of all of them, by program and in their order. Ends when `take`
  // returns false.
  using TakeRow =
      std::function<bool(const std::vector<std::string>& names, const std::vector<Cell>& cells)>;
  Status each_row(Table table, const std::string& program, const TakeRow& take) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainward::store
