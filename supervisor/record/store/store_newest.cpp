// The newest attempts of a run that may have thousands of them.
#include <cstdint>
#include <limits>
#include <optional>

#include "supervisor/record/store/chosen_attempts.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {

Result<json::array> Store::newest_attempts_json(const std::string& program,
                                                std::optional<std::int64_t> before,
                                                std::int64_t limit) const {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const Snapshot snapshot(*impl_->connection);
  return chosen_attempts(*impl_->connection, program, 1, before.value_or(any) - 1, limit);
}

}  // namespace trainward::store
