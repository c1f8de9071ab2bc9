// The daemon's hand on the courier: what it is told, and when there is something for it. Nothing
// that is done here waits or fails; without the courier's program the daemon trains on, and says
// so. One thread: the loop's.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "common/base/json/json.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/courier/courier_process.hpp"
#include "supervisor/daemon/loop/background.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/notify/news.hpp"
#include "supervisor/daemon/notify/upload_news.hpp"
#include "supervisor/record/metrics/snapshot.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

class Courier {
 public:
  // Borrows all but the paths.
  Courier(Loop& loop, Background& background, const Paths& paths, store::Store& store, News& news);

  // The configuration as it is now: changed orders restart it, no orders end it.
  void follow(const config::Config& config);
  // For Store::on_commit(): pokes it when the commit had something for it.
  [[nodiscard]] std::function<void()> committing();
  // Whether anybody is to be told or sent anything.
  [[nodiscard]] bool needed() const { return needed_; }
  // All is to leave now; `heard` is called with what has not.
  void leave(std::function<void(const orders::Left&)> heard) { process_->leave(std::move(heard)); }
  // Why nothing is delivered, in words; "" all is well.
  [[nodiscard]] std::string trouble() const { return process_->trouble(); }
  // {"needed": whether anybody is to be told or sent anything, "trouble": why nothing is delivered,
  // in words; "" all is well}
  [[nodiscard]] json::object state() const;

 private:
  Paths paths_;
  const store::Store& store_;
  std::shared_ptr<CourierProcess> process_;
  UploadNews upload_news_;
  bool needed_ = false;
};

// What metrics say of messages and uploads; nothing where courier.db cannot be read. For any
// thread.
std::optional<metrics::CourierFigures> courier_figures(const std::filesystem::path& state_folder);

}  // namespace trainward::daemon
