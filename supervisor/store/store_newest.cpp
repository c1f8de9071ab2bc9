// The newest attempts of a run that may have thousands of them.
#include <cstdint>
#include <limits>
#include <optional>

#include "supervisor/store/rows_json.hpp"
#include "supervisor/store/store_impl.hpp"

namespace trainward::store {

Result<json::array> Store::newest_attempts_json(const std::string& program,
                                                std::optional<std::int64_t> before,
                                                std::int64_t limit) const {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  return rows_json(*impl_->connection,
                   "select * from v_attempts where program = ? and attempt < ? "
                   "order by attempt desc limit ?",
                   program, before.value_or(any), limit);
}

}  // namespace trainward::store
