// The jobs that orders come to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/base/job.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::courier {

// Of all kinds of jobs, for Journal::open().
std::vector<std::string> all_tables();

// Kind corrupt: orders that make no sense.
Result<std::vector<std::unique_ptr<Job>>> jobs_of(const orders::Orders& orders);

// Forgets what the journal has of receivers that are no longer among these.
Status forget_what_is_gone(Journal& journal, const orders::Orders& orders);

}  // namespace trainward::courier
