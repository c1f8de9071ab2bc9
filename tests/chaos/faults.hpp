// What is done to the programs, and when: drawn from a seed before anything starts, so that the
// same seed is the same sequence whatever the programs make of it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::chaos {

enum class Kind {
  kill_daemon,
  end_daemon,
  stop_daemon,
  kill_shim,
  stop_shim,
  end_shim,
  kill_worker,
  stop_worker,
  end_worker,
  kill_helper,
  stop_helper,
  stop_all,
  log_burst,
  checkpoint_burst,
  commands,
  api_flood,
  idle_clients,
  half_requests,
  vanished_clients,
  datagrams,
  pipes,
  disk_full,
  read_only,
  no_watches,
  no_descriptors,
  no_memory,
  clock,
  suspend,
  reload,
  port_taken,
  journal_damaged,
  state_damaged,
  database_back,
  folders_swapped,
};

struct Fault {
  std::int64_t at_ms = 0;   // after the start
  std::int64_t for_ms = 0;  // until it is healed; 0: over at once
  Kind kind{};
  std::uint64_t target = 0;  // which program, file or command; taken modulo what there is
  std::uint64_t amount = 0;  // how many, or how far

  friend bool operator==(const Fault&, const Fault&) = default;
};

std::string_view name_of(Kind kind);
const std::vector<Kind>& all_kinds();
// The daemon itself is stopped, gone or out of means: how fast it answers meanwhile says nothing.
bool silences_daemon(Kind kind);
// The daemon ends, and is to be started again.
bool ends_daemon(Kind kind);
// In order of time, none in the last two seconds.
std::vector<Fault> draw(std::uint64_t seed, std::int64_t ms, const std::vector<Kind>& kinds);
// "12.345 s  stop_shim  #3  for 1200 ms"
std::string text_of(const Fault& fault);

}  // namespace trainward::chaos
