#include "supervisor/courier/jobs.hpp"

#include "supervisor/courier/courier_table.hpp"

namespace trainward::courier {

std::vector<std::string> all_tables() {
  std::vector<std::string> tables;
  for (const auto& part : {courier_tables()}) {
    tables.insert(tables.end(), part.begin(), part.end());
  }
  return tables;
}

Result<std::vector<std::unique_ptr<Job>>> jobs_of(const orders::Orders& /*orders*/) {
  return std::vector<std::unique_ptr<Job>>();
}

}  // namespace trainward::courier
