#include "supervisor/daemon/courier/courier.hpp"

#include <cstdint>
#include <utility>

#include "supervisor/daemon/courier/orders_of.hpp"

namespace trainward::daemon {
namespace {

CourierProcess::Settings settings_of(const Paths& paths) {
  CourierProcess::Settings settings;
  settings.program = paths.program("trainward-courier");
  return settings;
}

}  // namespace

Courier::Courier(Loop& loop, const Paths& paths, const store::Store& store)
    : store_(store), process_(std::make_shared<CourierProcess>(loop, settings_of(paths))) {}

void Courier::follow(const config::Config& config) {
  const orders::Orders orders = orders_of(config);
  needed_ = !orders.empty();
  process_->give(needed_ ? orders::line_of(orders) : "");
}

std::function<void()> Courier::committing() {
  return [&store = store_, process = std::weak_ptr(process_), seen = std::int64_t{0}]() mutable {
    const std::int64_t news = store.deliverable();
    if (std::exchange(seen, news) == news) return;
    if (const auto courier = process.lock()) courier->poke();
  };
}

json::object Courier::state() const {
  return {{"needed", needed_}, {"trouble", process_->trouble()}};
}

}  // namespace trainward::daemon
