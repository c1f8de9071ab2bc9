// The boards of a running attempt, watched at a low rate: temperature, power, clock, heartbeat and
// PCIe errors. A process for each board reads (trainward-probe --stream), because a read may hang
// in the kernel; the daemon listens.
//
// Samples go into the run database. What they say against a board becomes a fact of the machine for
// the attempt (an event, and evidence when it ends); that it is over is an event of kind "board".
// Nothing here fails: what cannot be watched or recorded is logged, and the attempt goes on.
// One thread: the loop's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hwprobe/watch/sample_watch.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/boards/sample_stream.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

struct WatchedBoard {
  std::string serial;
  std::string bus_id;  // empty: it cannot be watched, unless its host is described
};

class BoardWatch {
 public:
  struct Order {
    std::string program;
    std::int64_t attempt = 0;
    std::vector<WatchedBoard> boards;
    std::optional<std::filesystem::path> host;  // described
    std::int64_t every_ms = 10'000;
    std::filesystem::path root = "/";  // or a fake tree
    // Of a helper that hangs; beyond the interval.
    std::int64_t patience_ms = 10'000;
    std::int64_t kill_grace_ms = 1'000;
  };
  using Sink = std::function<void(core::HostFact)>;

  // `store` and `processes` must outlive this. `sink` is called on the loop and must not destroy
  // this.
  BoardWatch(Loop& loop, hwprobe::Processes& processes, const Paths& paths, store::Store& store,
             Order order, Sink sink);
  ~BoardWatch();
  BoardWatch(const BoardWatch&) = delete;
  BoardWatch& operator=(const BoardWatch&) = delete;

 private:
  struct Watched {
    std::string serial;
    hwprobe::SampleWatch judge;
    std::unique_ptr<SampleStream> stream;
    MonoTime taken_at;
    MonoTime thinned_at;
  };
  void take(Watched& watched, std::string_view line);
  void record(Watched& watched, const hwprobe::Sample& sample, Time at);
  Status write(Watched& watched, const hwprobe::Sample& sample, Time at);
  void tell(const Watched& watched, const hwprobe::SampleFinding& finding, Time at);

  store::Store& store_;
  Order order_;
  Sink sink_;
  bool refused_ = false;  // the newest sample was not recorded
  std::vector<std::unique_ptr<Watched>> watched_;
};

}  // namespace trainward::daemon
