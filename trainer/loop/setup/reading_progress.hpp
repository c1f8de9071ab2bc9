// Progress of a long read, reported every ten seconds; it ends when the worker is asked to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/text.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/reporting/requests.hpp"

namespace trainward::trainer {

// `what`: "data". Borrows both. Error transient: was asked to stop.
inline std::function<Status(std::uint64_t done, std::uint64_t total)> reading_progress(
    std::string what, const Requests& requests, Reporter& reporter) {
  constexpr std::int64_t between_reports_ms = 10'000;
  return [what = std::move(what), &requests, &reporter, reported = reporter.now().mono](
             std::uint64_t done, std::uint64_t total) mutable -> Status {
    if (requests.stop_requested()) return fail(ErrorKind::transient, "was asked to stop");
    const MonoTime now = reporter.now().mono;
    if (now - reported < between_reports_ms) return {};
    reported = now;
    reporter.status(
        fmt::format("reading the {}: {} of {}", what, human_bytes(done), human_bytes(total)));
    return {};
  };
}

}  // namespace trainward::trainer
