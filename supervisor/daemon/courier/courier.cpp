#include "supervisor/daemon/courier/courier.hpp"

#include <cstdint>
#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/daemon/courier/orders_of.hpp"
#include "supervisor/record/outbox/record.hpp"

namespace trainward::daemon {
namespace {

CourierProcess::Settings settings_of(const Paths& paths) {
  CourierProcess::Settings settings;
  settings.program = paths.program("trainward-courier");
  return settings;
}

}  // namespace

Courier::Courier(Loop& loop, Background& background, const Paths& paths, store::Store& store,
                 News& news)
    : paths_(paths),
      store_(store),
      process_(std::make_shared<CourierProcess>(loop, settings_of(paths))),
      upload_news_(loop, background, store, news, paths.state) {}

void Courier::follow(const config::Config& config) {
  const orders::Orders orders = orders_of(config, paths_);
  needed_ = !orders.empty();
  upload_news_.follow(!orders.uploads.empty());
  process_->give(needed_ ? orders::line_of(orders) : "");
}

std::function<void()> Courier::committing() {
  return [&store = store_, process = std::weak_ptr(process_), seen = std::int64_t{0}]() mutable {
    const std::int64_t news = store.deliverable();
    if (std::exchange(seen, news) == news) return;
    if (const auto courier = process.lock()) courier->poke();
  };
}

json::object Courier::state() const { return {{"needed", needed_}, {"trouble", trouble()}}; }

std::optional<metrics::CourierFigures> courier_figures(const std::filesystem::path& state_folder) {
  const auto counts = courier::counted(state_folder, now().wall.ms);
  if (!counts) return std::nullopt;
  metrics::CourierFigures figures;
  for (const auto& [channel, state, count] : counts->messages) {
    if (figures.channels.empty() || figures.channels.back().name != channel) {
      figures.channels.push_back({channel, {}, 0});
    }
    auto& row = figures.channels.back();
    const bool waits = state == "waiting" || state == "sending";
    (waits ? row.waiting : row.results[state]) += count;
  }
  for (const auto& [program, target, bytes, step, failed] : counts->uploads) {
    figures.targets.push_back({program, target, bytes, step, failed});
  }
  return figures;
}

}  // namespace trainward::daemon
