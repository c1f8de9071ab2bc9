// Logs of programs, for the API: read off the loop, since a disk may not answer.
#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"
#include "supervisor/daemon/daemon_parts.hpp"

namespace trainward::daemon {
namespace {

// Of a disk that does not answer; who asked may have gone long ago.
constexpr std::size_t most_reads = 64;
constexpr std::int64_t late_ms = 10'000;

Result<api::LogSlice> slice_of(const std::filesystem::path& file, const api::LogRequest& request,
                               std::int64_t attempt) {
  auto range = read_log(file, request.offset, request.limit);
  if (!range) return propagate(range);
  return api::LogSlice{std::move(range->bytes), range->begin, range->end, attempt};
}

tl::unexpected<Error> silent_disk(const std::string& where) {
  return fail(ErrorKind::transient, "the disk that holds the logs does not answer", where,
              "look at it with `dmesg`; the log can be read when it answers again");
}

}  // namespace

void Daemon::log(const api::LogRequest& request, api::Listener<Result<api::LogSlice>> listener) {
  // Once, whether the disk answers late or after all.
  const auto answer = [listener = std::move(listener),
                       told = std::make_shared<bool>(false)](Result<api::LogSlice> slice) {
    if (!std::exchange(*told, true)) listener(std::move(slice));
  };
  if (auto ok = known(request.program); !ok) return answer(propagate(ok));
  const core::State& state = runners_.at(request.program)->state();
  const std::int64_t launched = state.attempt - (core::is_on_the_way(state.stage) ? 1 : 0);
  const std::int64_t attempt = request.attempt.value_or(launched);
  const auto file =
      parts_->services.paths.attempt(request.program, attempt) /
      (request.stream == "stdout" ? attempt_files::standard_output : attempt_files::standard_error);
  if (log_reads_ >= most_reads) return answer(silent_disk(file.string()));
  ++log_reads_;
  Background::Job job;
  job.what = "read the log " + file.string();
  job.work = [this, request, attempt, file, answer]() -> Background::Then {
    return [this, answer, slice = slice_of(file, request, attempt)]() mutable {
      --log_reads_;
      answer(std::move(slice));
    };
  };
  job.late_ms = late_ms;
  job.late = [answer, file] { answer(silent_disk(file.string())); };
  parts_->background.run("logs for the API", std::move(job));
}

}  // namespace trainward::daemon
