// What the courier is told when it is started: one line of JSON on its stdin. Paths and names,
// never a secret: those the courier reads itself, when it needs them.
//
// Each kind of receiver is a list with a file of its own beside this one; it adds a member here,
// and its lines in to_json(), from_json() and empty().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/orders/channels.hpp"
#include "supervisor/orders/targets.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::orders {

// A line that is longer is refused by the courier, and not sent by the daemon: what a pipe may hold
// without privileges, so that writing it waits for nobody.
inline constexpr std::size_t most_order_bytes = 1024 * 1024;

struct Orders {
  std::string state_dir;                // absolute: courier.db and the courier's lease lie there
  std::string database;                 // absolute: the run database
  std::string proxy;                    // "": as the environment says
  std::string certificates;             // file of those that are trusted; "": the system's
  std::vector<Channel> channels;        // by which people are told
  std::vector<TrackingOrder> tracking;  // where curves are shown besides
  std::vector<UploadOrder> uploads;     // where checkpoints go to

  // Nobody is to be told or sent anything: no courier is needed.
  [[nodiscard]] bool empty() const;
};

json::object to_json(const Orders& orders);
// Kind corrupt, with the member that is wrong. What is not known is left out: the other side may be
// newer.
Result<Orders> from_json(const json::value& value);

// The line as it is sent, without its end.
std::string line_of(const Orders& orders);
Result<Orders> from_line(std::string_view line);

}  // namespace trainward::orders
