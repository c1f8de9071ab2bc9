// A program's run on a server that speaks MLflow's REST.
//
// The server only ever adds: what was sent once can be neither changed nor taken back, and the same
// metric with the same time is the same. So a step is sent once, when a verified checkpoint lies
// behind it (or the program is over), with the time that it was recorded at: sending it again after
// an answer that was lost adds nothing. What is about to be sent is on record before it is.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json.hpp"
#include "supervisor/net/http_client.hpp"
#include "supervisor/orders/trackers.hpp"
#include "supervisor/store/store.hpp"
#include "supervisor/tracking/run_writer.hpp"

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
  [[nodiscard]] std::int64_t wait_until_ms() const { return wait_until_ms_; }

 private:
  struct Cursor;
  struct Batch;
  struct Reply {
    int status = 0;
    std::string code;  // MLflow's own, of a refusal: letters and _
    json::object body;
  };

  Result<Reply> call(const std::string& method, const std::string& what, const json::object* body);
  tl::unexpected<Error> refused(const Reply& reply, const std::string& what) const;
  Result<bool> is_gone(const Reply& refusal, const Cursor& cursor);
  Status begin_anew(Cursor& cursor);
  Result<Batch> gather(const store::Store& store, const Cursor& cursor) const;
  Status find_run(const Batch& batch, Cursor& cursor);
  Result<std::string> find_experiment();
  Status send_params(Cursor& cursor);
  Status log(Cursor& cursor, json::object content);
  Status log_params(Cursor& cursor, const json::array& params);
  Status send_status(const Batch& batch, Cursor& cursor);
  Status keep(const Cursor& cursor);

  orders::TrackingOrder order_;
  Memory& memory_;
  net::HttpClient client_;
  std::int64_t wait_until_ms_ = 0;
  std::int64_t now_ms_ = 0;
};

}  // namespace trainward::tracking
