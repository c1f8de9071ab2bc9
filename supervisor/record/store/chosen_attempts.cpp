#include "supervisor/record/store/chosen_attempts.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "supervisor/record/store/rows/rows_json.hpp"
#include "supervisor/record/store/schema.hpp"

namespace trainward::store {
namespace {

// What the rest of a run has to do with an attempt, as `runs` in v_attempts says it.
struct Among {
  std::int64_t number = 0;
  std::optional<std::int64_t> before_ever, before_here, next_number;
};

std::vector<Among> newest_first(Connection& db, const std::string& program, std::int64_t from,
                                std::int64_t to, std::int64_t limit, Status& read) {
  std::vector<Among> all;
  std::vector<bool> has_steps;
  std::optional<std::int64_t> ever;
  std::optional<std::int64_t> here;
  read = db.each(
      "select number, cause = 'done', first_step > 0, last_step from attempts where program = ? "
      "order by number",
      [&](const Row& row) {
        all.push_back({row.integer(0), ever, here, {}});
        has_steps.push_back(row.integer(2) != 0);
        const std::int64_t last = row.integer(3);
        ever = std::max(ever.value_or(last), last);
        here = std::max(here.value_or(last), last);
        if (row.integer(1) != 0) here.reset();  // the next one begins an era
      },
      program);
  std::vector<Among> chosen;
  std::optional<std::int64_t> next;
  for (std::size_t i = all.size(); i-- > 0;) {
    Among& one = all[i];
    one.next_number = next;
    if (has_steps[i]) next = one.number;
    if (one.number >= from && one.number <= to &&
        static_cast<std::int64_t>(chosen.size()) < limit) {
      chosen.push_back(one);
    }
  }
  return chosen;
}

// The view's own text from where it looks at each attempt by itself; what comes before, windows
// over all of them, is a table of the chosen ones instead.
std::string text_of_view() {
  const std::string_view views = views_text();
  constexpr std::string_view begins = "), seen as (";
  constexpr std::string_view ends = "\nfrom raw;";
  const auto view = views.find("create view v_attempts as");
  const auto begin = views.find(begins, view);
  const auto end = views.find(ends, begin);
  // The chosen ones first, each of which then finds its row: the other way round every attempt of
  // the run would go through all of them.
  return "with chosen as materialized (select json_extract(value, '$[0]') as number, "
         "json_extract(value, '$[1]') as before_ever, json_extract(value, '$[2]') as before_here, "
         "json_extract(value, '$[3]') as next_number from json_each(?2)), "
         "runs as (select a.*, c.before_ever, c.before_here, c.next_number "
         "from chosen c cross join attempts a on a.program = ?1 and a.number = c.number\n" +
         std::string(views.substr(begin, end + ends.size() - 1 - begin)) +
         "\norder by attempt desc";
}

}  // namespace

Result<json::array> chosen_attempts(Connection& db, const std::string& program, std::int64_t from,
                                    std::int64_t to, std::int64_t limit) {
  static const std::string text = text_of_view();
  Status read;
  json::array chosen;
  for (const Among& one : newest_first(db, program, from, to, limit, read)) {
    chosen.push_back(json::array{one.number, or_null(one.before_ever), or_null(one.before_here),
                                 or_null(one.next_number)});
  }
  if (!read) return propagate(read);
  if (chosen.empty()) return json::array();
  return rows_json(db, text, program, json::serialize(chosen));
}

Result<std::optional<std::int64_t>> attempt_to_explain(Connection& db, const std::string& program) {
  std::optional<std::int64_t> number;
  auto read = db.each(
      "select number from attempts where program = ? order by ended_ms = 0, number desc limit 1",
      [&](const Row& row) { number = row.integer(0); }, program);
  if (!read) return propagate(read);
  return number;
}

}  // namespace trainward::store
