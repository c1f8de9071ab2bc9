#include "supervisor/ctl/live/gatherer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "supervisor/ctl/logs/log_source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl::live {
namespace {

constexpr std::int64_t curve_every_ms = 2'000;
constexpr std::int64_t boards_every_ms = 5'000;
constexpr std::int64_t recent_every_ms = 5'000;
constexpr std::int64_t ledger_every_ms = 10'000;
constexpr std::size_t most_events = 500;
constexpr std::size_t most_programs_watched = 32;
constexpr std::int64_t recent_steps = 64;
constexpr std::int64_t first_log_bytes = 64 << 10;
constexpr std::int64_t log_bytes = 256 << 10;

struct Window {
  const char* name;
  std::int64_t seconds;  // 0: the whole run
};
constexpr Window windows[] = {{"run", 0}, {"24 h", 86'400}, {"1 h", 3'600}};

json::array array_or_none(json::value value) {
  return value.is_array() ? std::move(value.get_array()) : json::array();
}

json::object object_or_none(const json::value& value) {
  return value.is_object() ? value.get_object() : json::object();
}

}  // namespace

// From the daemon while it answers, else from the database; null for what cannot be had, which a
// screen shows as nothing there.
class Gatherer::Reader {
 public:
  // `selected`: also when it is no longer in the configuration.
  Reader(const Context& context, const std::string& selected)
      : client_(client_of(context)), selected_(selected) {
    auto programs = client_.document(Method::get, programs_with(selected), deadline);
    if (programs && programs->is_array()) {
      origin_ = top::Origin::daemon;
      programs_ = std::move(programs->get_array());
      return;
    }
    if (programs) {
      trouble_ = "trainwardd's answer is not a list: it may be of another version";
      return;
    }
    trouble_ = programs.error().error.what;
    if (context.settings.is_here() && nobody_answers(programs.error())) open_database(context);
  }

  [[nodiscard]] top::Origin origin() const { return origin_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] json::array programs() const { return programs_; }

  [[nodiscard]] json::value read(const std::string& target,
                                 const FromDatabase& from_database) const {
    if (store_) {
      auto value = from_database(*store_);
      return value ? std::move(*value) : json::value();
    }
    if (origin_ != top::Origin::daemon) return {};
    auto value = client_.document(Method::get, target, deadline);
    return value ? std::move(*value) : json::value();
  }

 private:
  void open_database(const Context& context) {
    const std::filesystem::path file = context.settings.database();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      trouble_ += fmt::format(
          ", and there is no run database in {}: start trainwardd, or name the "
          "state folder with --state-dir",
          context.settings.state_dir.string());
      return;
    }
    auto store = store::Store::open_read_only(file);
    if (!store) {
      trouble_ += ", and " + store.error().message();
      return;
    }
    const std::int64_t newest = store->newest_ms().value_or(0);
    // Uptimes as of the last record: nobody watched since.
    auto programs = store->status_json(Time{newest, 0}, selected_);
    if (!programs) {
      trouble_ += ", and " + programs.error().message();
      return;
    }
    origin_ = top::Origin::database;
    programs_ = std::move(*programs);
    trouble_ += "; from the database";
    if (newest > 0) {
      trouble_ += ", as of " + time_text(newest, context.settings.utc);
    }
    store_.emplace(std::move(*store));
  }

  Client client_;
  std::string selected_;
  std::optional<store::Store> store_;
  top::Origin origin_ = top::Origin::nothing;
  std::string trouble_;
  json::array programs_;
};

const json::value& Gatherer::kept(const std::string& name, const std::string& of,
                                  std::int64_t for_ms, const std::function<json::value()>& read) {
  Kept& document = kept_[name];
  const std::int64_t age_ms = now_ms_ - document.read_ms;
  // A clock that was set back must not keep it for ever.
  if (document.of != of || age_ms >= for_ms || age_ms < 0) {
    json::value value = read();
    document.of = of;
    document.read_ms = now_ms_;
    // An answer that did not come in time does not undo the one before.
    if (!value.is_null()) document.value = std::move(value);
  }
  return document.value;
}

top::Documents Gatherer::look(const top::Interest& interest, Time now,
                              const std::function<bool()>& stopped) {
  now_ms_ = now.wall.ms;
  const Reader reader(context_, interest.program);
  top::Documents documents;
  documents.now_ms = now_ms_;
  documents.ascii = ascii_;
  documents.origin = reader.origin();
  documents.trouble = reader.trouble();
  documents.programs = reader.programs();
  if (documents.origin == top::Origin::nothing || documents.programs.empty() || stopped()) {
    return documents;
  }
  documents.selected = interest.program;
  if (views::row_named(documents.programs, interest.program) == nullptr) {
    const auto told = views::told_of(documents.programs, now_ms_);
    documents.selected = told.empty() ? "" : string_or(*told.front().row, "name", "");
  }
  if (documents.selected != selected_) kept_.clear();
  selected_ = documents.selected;
  if (stopped()) return documents;
  read_program(reader, interest, documents);
  if (stopped()) return documents;
  read_events(reader, documents.selected);
  documents.events = events_;
  read_log(interest, documents.selected);
  documents.log = {interest.stream, log_attempt_, log_.lines()};
  if (stopped()) return documents;
  const std::string source = documents.origin == top::Origin::daemon ? "daemon" : "database";
  const json::value& boards = kept("boards", source, boards_every_ms, [&] {
    return reader.read("/v1/boards", [](const store::Store& store) -> Result<json::value> {
      return store.boards_json();
    });
  });
  documents.boards = array_or_none(boards);
  if (!stopped()) read_recent(reader, documents);
  return documents;
}

void Gatherer::read_program(const Reader& reader, const top::Interest& interest,
                            top::Documents& documents) {
  const std::string& program = documents.selected;
  const json::object* row = views::row_named(documents.programs, program);
  const std::string place = row == nullptr ? ""
                                           : fmt::format("{}/{}", int_or(*row, "attempt", 0),
                                                         int_or(*row, "last_step", 0));
  std::string asked = fmt::format("{}?buckets={}", target_of(program, "curve"), interest.buckets);
  if (interest.to > 0) asked += fmt::format("&from={}&to={}", interest.from, interest.to);
  // At every new step, and at times without one: checkpoints and ends of attempts come too.
  documents.curve = object_or_none(kept("curve", asked + "#" + place, curve_every_ms, [&] {
    return reader.read(asked, [&](const store::Store& store) -> Result<json::value> {
      store::Store::CurveQuery query;
      query.buckets = interest.buckets;
      if (interest.to > 0) {
        query.from = interest.from;
        query.to = interest.to;
      }
      return store.curve_json(program, query);
    });
  }));
  for (const Window& window_of : windows) {
    const std::string name = window_of.name;
    const std::int64_t seconds = window_of.seconds;
    std::string target = target_of(program, "ledger");
    if (seconds > 0) target += fmt::format("?window={}", seconds);
    documents.ledgers.emplace_back(
        name, object_or_none(kept("ledger " + name, target, ledger_every_ms, [&] {
          return reader.read(target, [&](const store::Store& store) -> Result<json::value> {
            std::optional<std::int64_t> window;
            if (seconds > 0) window = seconds;
            // As of the last record: nobody kept books since.
            return store.ledger_json(program, window, Time{store.newest_ms().value_or(0), 0});
          });
        })));
  }
}

void Gatherer::read_events(const Reader& reader, const std::string& program) {
  if (events_of_ != program) {
    events_of_ = program;
    events_.clear();
  }
  std::int64_t after = -1;
  if (!events_.empty()) after = int_or(events_.back().as_object(), "id", -1);
  const json::value found =
      reader.read(fmt::format("{}?after={}", target_of(program, "events"), after),
                  [&](const store::Store& store) -> Result<json::value> {
                    return store.events_json(program, after, static_cast<int>(most_events));
                  });
  if (!found.is_array()) return;
  for (const json::value& row : found.get_array()) {
    if (row.is_object()) events_.push_back(row);
  }
  if (events_.size() > most_events) {
    events_.erase(events_.begin(), events_.end() - static_cast<std::ptrdiff_t>(most_events));
  }
}

void Gatherer::read_log(const top::Interest& interest, const std::string& program) {
  const std::string which = program + "/" + interest.stream;
  const bool another = log_of_ != which;
  if (another) {
    log_of_ = which;
    log_attempt_ = 0;
    log_.clear();
  }
  LogQuery query{program, interest.stream, 0, another ? -first_log_bytes : log_offset_,
                 another ? first_log_bytes : log_bytes};
  auto piece = read_log_piece(context_, query, deadline);
  if (!piece) return;
  // Another attempt's log, or one that was emptied, is read from its start.
  if (!another && (piece->attempt != log_attempt_ || piece->size < log_offset_)) {
    log_.clear();
    query.offset = -first_log_bytes;
    query.limit = first_log_bytes;
    piece = read_log_piece(context_, query, deadline);
    if (!piece) return;
  }
  log_attempt_ = piece->attempt;
  log_offset_ = piece->offset + static_cast<std::int64_t>(piece->bytes.size());
  log_.add(piece->bytes);
}

void Gatherer::read_recent(const Reader& reader, top::Documents& documents) {
  if (documents.origin != top::Origin::daemon) return;
  std::size_t watched = 0;
  for_each_row(documents.programs, [&](const json::object& row) {
    const std::string name = string_or(row, "name", "");
    const std::int64_t step = int_or(row, "last_step", 0);
    const bool runs = string_or(row, "state", "") == core::to_string(core::Shown::running);
    if (!runs || step <= 0 || ++watched > most_programs_watched) return;
    const std::string target =
        fmt::format("{}?from={}&to={}&buckets={}", target_of(name, "curve"),
                    std::max<std::int64_t>(step - recent_steps + 1, 1), step, recent_steps);
    documents.recent[name] = object_or_none(kept("recent " + name, name, recent_every_ms, [&] {
      return reader.read(target, [](const store::Store&) { return json::value(); });
    }));
  });
}

}  // namespace trainward::ctl::live
