#include "supervisor/courier/jobs/tracking/tracking_jobs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/courier/jobs/tracking/tracked_table.hpp"
#include "supervisor/courier/tracking/mlflow/mlflow.hpp"
#include "supervisor/courier/tracking/run_writer.hpp"

namespace trainward::courier {
namespace {

// A step shows on a curve within five seconds; writing more often would be wasted work.
constexpr std::int64_t files_every_ms = 2'000;
constexpr std::int64_t files_at_least_ms = 4'000;
constexpr std::int64_t server_every_ms = 15'000;

class FilesJob final : public Job {
 public:
  explicit FilesJob(const orders::TrackingOrder& order)
      : name_("tracking " + order.program + "/tensorboard"),
        row_(order.program, "tensorboard", order.tracking.tensorboard),
        writer_({order.program, order.tracking.tensorboard, tracking::host_name(), order.hparams,
                 order.tracking.every},
                row_) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool owes() const override { return owes_; }

  Result<std::int64_t> work(const World& world) override {
    owes_ = true;
    if (!world.leaving && world.now_ms < not_before_ms_ &&
        not_before_ms_ - world.now_ms <= files_every_ms) {
      return not_before_ms_;
    }
    not_before_ms_ = world.now_ms + files_every_ms;
    row_.use(world.journal, world.now_ms);
    auto done =
        writer_.advance(world.store, world.now_ms, [&] { return world.stop.stop_requested(); });
    if (!done) return propagate(done);
    owes_ = false;
    return world.now_ms + files_at_least_ms;
  }

 private:
  std::string name_;
  TrackedRow row_;
  tracking::RunWriter writer_;
  std::int64_t not_before_ms_ = 0;
  bool owes_ = true;
};

class ServerJob final : public Job {
 public:
  ServerJob(orders::TrackingOrder order, net::Settings network)
      : name_("tracking " + order.program + "/mlflow"),
        order_(std::move(order)),
        network_(std::move(network)),
        row_(order_.program, "mlflow",
             order_.tracking.mlflow->url + " " + order_.tracking.mlflow->experiment) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool owes() const override { return owes_; }

  Result<std::int64_t> work(const World& world) override {
    owes_ = true;
    // Asked to wait: the same answer as before, without asking again.
    if (refused_ && world.now_ms < wait_until_ms_) return tl::unexpected<Error>(*refused_);
    if (!world.leaving && world.now_ms < not_before_ms_ &&
        not_before_ms_ - world.now_ms <= server_every_ms) {
      return not_before_ms_;
    }
    row_.use(world.journal, world.now_ms);
    if (!mlflow_) mlflow_.emplace(order_, row_, network_, world.stop);
    auto more = mlflow_->advance(world.store, world.now_ms);
    if (!more) {
      wait_until_ms_ = mlflow_->wait_until_ms();
      refused_ = more.error();
      return propagate(more);
    }
    refused_.reset();
    owes_ = *more;
    not_before_ms_ = world.now_ms + (*more ? 0 : server_every_ms);
    return not_before_ms_;
  }

 private:
  std::string name_;
  orders::TrackingOrder order_;
  net::Settings network_;
  TrackedRow row_;
  std::optional<tracking::Mlflow> mlflow_;
  std::optional<Error> refused_;
  std::int64_t wait_until_ms_ = 0;
  std::int64_t not_before_ms_ = 0;
  bool owes_ = true;
};

}  // namespace

std::vector<std::unique_ptr<Job>> make_tracking_jobs(const orders::TrackingOrder& order,
                                                     const net::Settings& network) {
  std::vector<std::unique_ptr<Job>> jobs;
  if (!order.tracking.tensorboard.empty()) jobs.push_back(std::make_unique<FilesJob>(order));
  if (order.tracking.mlflow) jobs.push_back(std::make_unique<ServerJob>(order, network));
  return jobs;
}

}  // namespace trainward::courier
