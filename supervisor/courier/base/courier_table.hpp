// How each job fares: what `trainwardctl status` and /v1/deliveries tell of it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/base/courier_journal.hpp"

namespace trainward::courier {

std::vector<std::string> courier_tables();

struct JobState {
  std::string name;
  bool fails = false;
  std::int64_t since_ms = 0;  // in this state
  std::string error;          // "": none
  std::int64_t next_ms = 0;   // when it is tried again; 0: when there is something to do
};

// `since_ms` of the record stays while the state does.
Status put_job(Journal& journal, const JobState& state);
// Jobs that are no more are taken out.
Status keep_jobs(Journal& journal, const std::set<std::string>& names);

}  // namespace trainward::courier
