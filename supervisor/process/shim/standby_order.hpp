// What a daemon and the shim of a standby say to each other, by packets over the shim's descriptor
// standby_channel:
//   "ready"        the worker has said READY=1
//   "trains"       the worker has told of a step before anybody asked it to begin; it is ended
//   "begin FOLDER" from the daemon, with the leases: this is the attempt's folder now
// The end of the channel before that means that the standby is not needed: its worker is killed,
// and nothing of it stays. So it ends with its daemon.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "supervisor/process/shim/attempt_parts.hpp"
#include "supervisor/process/shim/worker_process.hpp"

namespace trainward::shim {

inline constexpr const char* standby_option = "--standby";
inline constexpr int standby_channel = 3;

// By which the worker is told to begin (common/wire/standby.hpp).
struct Word {
  Fd shim, worker;
};
Result<Word> make_word();

struct Order {
  std::filesystem::path folder;  // the attempt's
  std::vector<Fd> leases;
};

// Waits for it while the worker gets ready. Kind permanent: it is not needed, was asked to end, or
// its worker has ended or trains.
Result<Order> wait_for_order(const Mouth& mouth, const WorkerProcess& worker);

}  // namespace trainward::shim
