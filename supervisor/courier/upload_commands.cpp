#include "supervisor/courier/upload_commands.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "common/base/json/json.hpp"
#include "common/os/clock.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/courier/base/courier_journal.hpp"
#include "supervisor/courier/base/courier_lease.hpp"
#include "supervisor/courier/jobs/jobs.hpp"
#include "supervisor/courier/jobs/uploads/upload_rows.hpp"

namespace trainward::courier {
namespace {

int fail_with(const Error& error) {
  const json::object out{{"error", error.message()}};
  std::printf("%s\n", json::serialize(out).c_str());
  return exit_code::failed;
}

}  // namespace

int ask_command(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 3> known{"now", "retry", "verify"};
  const bool fits =
      words.size() == 4 && std::find(known.begin(), known.end(), words[1]) != known.end();
  if (!fits) {
    std::fputs("usage: trainward-courier ask STATE_DIR now|retry|verify PROGRAM TARGET\n", stderr);
    return exit_code::usage;
  }
  const std::filesystem::path state = words[0];
  auto journal = Journal::open(state / journal_name, all_tables());
  if (!journal) return fail_with(journal.error());
  const std::int64_t at_ms = now().wall.ms;
  if (auto ok = ask_for_upload(**journal, words[1], words[2], words[3], at_ms); !ok) {
    return fail_with(ok.error());
  }
  // A running courier holds the lease and will see the request.
  auto lease = try_lease(state);
  if (!lease) return fail_with(lease.error());
  const json::object out{{"at_ms", at_ms}, {"courier", !lease->has_value()}};
  std::printf("%s\n", json::serialize(out).c_str());
  return exit_code::done;
}

}  // namespace trainward::courier
