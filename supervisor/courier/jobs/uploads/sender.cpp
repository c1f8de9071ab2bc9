#include "supervisor/courier/jobs/uploads/sender.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <utility>
#include <variant>

#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/secret_file.hpp"
#include "supervisor/courier/jobs/uploads/candidates.hpp"
#include "supervisor/courier/upload/hub/hub_form.hpp"
#include "supervisor/courier/upload/make_target.hpp"
#include "supervisor/courier/upload/package.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::courier {

using upload::Candidate;
using upload::Known;

namespace {

constexpr std::int64_t note_every_ms = 2'000;  // progress
constexpr std::int64_t hour_ms = 3'600'000;    // until what was refused is tried again

// What is told of an upload that is under way, a row each two seconds, and its end when the window
// closes.
class Progress {
 public:
  Progress(UploadRows& rows, const Candidate& what, std::int64_t bytes)
      : rows_(rows), what_(what), bytes_(bytes), began_(now().mono) {}

  void tell(std::int64_t sent) {
    if (first_ < 0) first_ = sent;
    sent_ = sent;
    const MonoTime at = now().mono;
    if (at - noted_ < note_every_ms) return;
    noted_ = at;
    write(at);
  }

  void write(MonoTime at) {
    if (first_ < 0) return;
    const std::int64_t took = std::max<std::int64_t>(at - began_, 1);
    const std::int64_t speed = (sent_ - std::max<std::int64_t>(first_, 0)) * 1000 / took;
    if (auto ok = rows_.progress(what_, bytes_, sent_, speed); !ok) {
      spdlog::warn("the progress of an upload is not on record: {}", ok.error().message());
    }
  }

 private:
  UploadRows& rows_;
  const Candidate& what_;
  std::int64_t bytes_;
  MonoTime began_;
  MonoTime noted_ = {};
  std::int64_t first_ = -1;
  std::int64_t sent_ = 0;
};

// None where bytes have arrived since: then the line works.
int tries_after(UploadRows& rows, const Candidate& what, const Known& before) {
  auto known = rows.known();
  if (!known) return before.tries;
  for (const Known& one : *known) {
    if (one.name == what.name && one.step == what.step) return one.tries;
  }
  return before.tries;
}

}  // namespace

int minute_of_day(std::int64_t wall_ms) {
  const std::time_t seconds = wall_ms / 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local.tm_hour * 60 + local.tm_min;
}

Sender::Sender(orders::UploadOrder order, orders::Target target, net::Settings network,
               std::filesystem::path state_dir)
    : order_(std::move(order)),
      target_(std::move(target)),
      network_(std::move(network)),
      state_dir_(std::move(state_dir)),
      backoff_(std::random_device{}()) {}

std::string Sender::name() const { return job_name(order_.source.program, target_.name); }

std::string Sender::secret() const {
  std::string file;
  if (const auto* hub = std::get_if<orders::HubPlace>(&target_.place)) file = hub->token_file;
  if (const auto* s3 = std::get_if<orders::S3Place>(&target_.place)) file = s3->credentials_file;
  return file.empty() ? "" : secret_stamp(file);
}

Result<std::unique_ptr<upload::Target>> Sender::reach(UploadRows& rows,
                                                      std::stop_token stop) const {
  return upload::make_target(target_, rows,
                             {network_, std::move(stop), order_.upload.bytes_per_second});
}

// As the target's readers want it.
Result<upload::Package> Sender::form(upload::OpenedPackage& opened, const Candidate& what,
                                     std::stop_token stop) const {
  const auto* place = std::get_if<orders::HubPlace>(&target_.place);
  if (place == nullptr) return std::move(opened.package);
  upload::hub::FormOptions options;
  // Another user reaches nothing below the state folder.
  const std::string name = fmt::format("{}-{}", order_.source.program, target_.name);
  options.scratch = opened.reader
                        ? std::filesystem::path(what.path).parent_path() / (".tmp-form-" + name)
                        : state_dir_ / "upload" / name;
  options.reader = opened.reader;
  options.stop = std::move(stop);
  return upload::hub::in_form(std::move(opened.package), what.path, place->form, options);
}

Status Sender::send(const World& world, UploadRows& rows, const Candidate& what,
                    const Known& before, bool whatever_hour) {
  std::stop_source stop;
  const std::stop_callback ended(world.stop, [&stop] { stop.request_stop(); });
  auto target = reach(rows, stop.get_token());
  if (!target) return propagate(target);
  auto opened =
      upload::open_package(order_.source, what, rows, stop.get_token(),
                           [&](std::int64_t size) { return (*target)->part_bytes(size); });
  if (!opened) return failed(world, rows, what, before, opened.error(), std::nullopt);
  fault_point("upload.opened");
  auto package = form(*opened, what, stop.get_token());
  if (!package) return failed(world, rows, what, before, package.error(), std::nullopt);
  auto run = run_of(world.store, order_.source.program);
  if (!run) return propagate(run);
  package->run = std::move(*run);
  std::int64_t bytes = 0;
  for (const upload::File& file : package->files) bytes += file.size;
  if (auto ok = rows.progress(what, bytes, before.sent_bytes, 0); !ok) return ok;
  Progress progress(rows, what, bytes);
  bool closed = false;
  const upload::Progress tell = [&](std::int64_t sent) {
    progress.tell(sent);
    if (whatever_hour || closed) return;
    const std::int64_t at = now().wall.ms;
    closed = upload::until_open_ms(window(), minute_of_day(at)) > 0;
    if (closed) stop.request_stop();
  };
  auto published = (*target)->publish(*package, tell);
  progress.write(now().mono);
  if (published) {
    fault_point("upload.committed");
    if (auto ok = rows.done(what, published->place, now().wall.ms); !ok) return ok;
    spdlog::info("{}: step {} is at {}", name(), what.step, published->place);
    return upload::forget_digests(rows);
  }
  if (world.stop.stop_requested()) return {};  // as the row has it, the next process goes on
  if (closed) {
    const std::int64_t at = now().wall.ms;
    const std::int64_t opens = at + upload::until_open_ms(window(), minute_of_day(at));
    return rows.not_done(what, "held", "", 0, opens, 0);
  }
  return failed(world, rows, what, before, published.error(), (*target)->wait_ms());
}

Status Sender::failed(const World& world, UploadRows& rows, const Candidate& what,
                      const Known& before, const Error& error,
                      std::optional<std::int64_t> wait_ms) {
  if (world.stop.stop_requested()) return {};
  const std::int64_t at = now().wall.ms;
  struct stat info {};
  if (::lstat(what.path.c_str(), &info) != 0 && error.kind != ErrorKind::transient) {
    spdlog::info("{}: step {} was removed before it was sent", name(), what.step);
    return give_up(world, rows, what.name);
  }
  spdlog::warn("{}: step {}: {}", name(), what.step, error.message());
  if (error.kind == ErrorKind::corrupt) {
    // Whatever its bytes are now, their digests must be taken again.
    if (auto ok = upload::forget_digests(rows); !ok) return ok;
  }
  if (error.kind == ErrorKind::transient) {
    const int tries = tries_after(rows, what, before) + 1;
    const std::int64_t pause = std::max(backoff_.pause_ms(tries), wait_ms.value_or(0));
    return rows.not_done(what, "waiting", error.message(), tries, at + pause, 0);
  }
  // Somebody has to do something; or its program wrote into it, and has it then finished.
  return rows.not_done(what, "failed", error.message(), before.tries + 1, at + hour_ms, at);
}

Status Sender::give_up(const World& world, UploadRows& rows, const std::string& checkpoint) const {
  auto target = reach(rows, world.stop);
  if (!target) return propagate(target);
  if (auto ok = (*target)->abandon(order_.source.program, checkpoint); !ok) {
    if (ok.error().kind == ErrorKind::transient) return ok;
    spdlog::warn("{}: what has arrived of {} stays there: {}", name(), checkpoint,
                 ok.error().message());
  }
  return rows.stale(checkpoint, world.now_ms);
}

}  // namespace trainward::courier
