// trainward-courier, kept going: started with its orders, poked when there may be news, started
// again when it ends or gives no sign of life. Nothing here waits for it, whatever it does.
//
//   resting ──orders──> running ──ended / silent and killed──> pausing ──> running
//                          └──other orders──> ending ──ended──> running
//
// It reads one line of orders (JSON), then an empty line for each poke, and ends soon after the
// end of its input: with the daemon, however that ends. It prints a line every now and then as a
// sign of life, and once it was told that all is to leave, what has not left
// (supervisor/orders/left.hpp); what it says on standard error goes to the daemon's log. Destroying
// this asks it to end, and ends it when it has not after `farewell_ms`. One thread: the loop's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/orders/left.hpp"

namespace trainward::daemon {

class CourierProcess {
 public:
  struct Settings {
    std::filesystem::path program;
    std::int64_t silence_ms = 120'000;    // longest time from a sign of life to the next
    std::int64_t first_pause_ms = 1'000;  // before it is started again; doubled each time
    std::int64_t longest_pause_ms = 300'000;
    std::int64_t worked_ms = 20'000;   // so long, and longer than it was waited for: has worked
    std::int64_t end_ms = 10'000;      // from being asked to end until it is killed
    std::int64_t farewell_ms = 4'000;  // the same when this is destroyed, which waits as long
    std::int64_t between_pokes_ms = 1'000;
    std::int64_t poke_at_least_ms = 30'000;
  };

  CourierProcess(Loop& loop, Settings settings);
  ~CourierProcess();
  CourierProcess(const CourierProcess&) = delete;
  CourierProcess& operator=(const CourierProcess&) = delete;

  // One line of JSON without its end, at most 1 MiB; "": there is nothing to do, and none runs. The
  // same as before changes nothing.
  void give(const std::string& orders);

  // There may be something new in the run database. Cheap: many at once become one.
  void poke();

  // All is to leave now; `heard` is called with what has not. This courier and those after it.
  void leave(std::function<void(const orders::Left&)> heard);

  // Why nothing is delivered though there are orders, in words; "" when all is well.
  [[nodiscard]] std::string trouble() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::daemon
