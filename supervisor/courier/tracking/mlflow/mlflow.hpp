// A program's run on a server that speaks MLflow's REST.
//
// The server only ever adds: what was sent once can be neither changed nor taken back, and the same
// metric with the same time is the same. So a step is sent once, when a verified checkpoint lies
// behind it (or the program is over), with the time that it was recorded at: sending it again after
// an answer that was lost adds nothing. What is about to be sent is on record before it is.
#pragma once

#include <cstdint>
#include <stop_token>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/courier/tracking/mlflow/batch.hpp"
#include "supervisor/courier/tracking/mlflow/server.hpp"
#include "supervisor/courier/tracking/run_writer.hpp"
#include "supervisor/orders/trackers.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::tracking {

class Mlflow {
 public:
  // `order.tracking.mlflow` is set.
  Mlflow(orders::TrackingOrder order, Memory& memory, const net::Settings& network,
         const std::stop_token& stop);

  // Sends at most one batch of what is due; whether there is more. Kinds: transient (the server or
  // the network; it is gone on with where it stood), permanent (it refuses us).
  Result<bool> advance(const store::Store& store, std::int64_t now_ms);
  // Until when the server asked to be left alone; 0: it did not.
  [[nodiscard]] std::int64_t wait_until_ms() const { return server_.wait_until_ms(); }

 private:
  struct Cursor;

  Status begin_anew(Cursor& cursor);
  Status find_run(const Batch& batch, Cursor& cursor);
  Status send_params(Cursor& cursor);
  Status log(Cursor& cursor, json::object content);
  Status log_params(Cursor& cursor, const json::array& params);
  Status send_status(const Batch& batch, Cursor& cursor);
  Status keep(const Cursor& cursor);

  orders::TrackingOrder order_;
  Memory& memory_;
  MlflowServer server_;
};

}  // namespace trainward::tracking
