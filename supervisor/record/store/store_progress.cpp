// Since when a program has come no further.
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {

Result<std::int64_t> Store::progress_ms(const std::string& program) const {
  std::int64_t newest = 0;
  auto read = impl_->connection->each(
      "select max(coalesce((select min(at_ms) from checkpoints where program = ?1 and"
      "                       state <> 'corrupt' and step ="
      "                         (select max(step) from checkpoints where program = ?1 and"
      "                            state <> 'corrupt')),"
      "                    (select min(at_ms) from steps where program = ?1 and step ="
      "                       (select max(step) from steps where program = ?1)), 0),"
      "           coalesce((select min(intended_ms) from attempts where program = ?1 and number >"
      "                       coalesce((select max(number) from attempts where program = ?1 and"
      "                                   cause in ('done', 'stopped')), 0)), 0),"
      "           iif(exists (select 1 from attempts where program = ?1), 0,"
      "               coalesce((select changed_ms from programs where name = ?1), 0)))",
      [&](const Row& row) { newest = row.integer(0); }, program);
  if (!read) return propagate(read);
  return newest;
}

}  // namespace trainward::store
