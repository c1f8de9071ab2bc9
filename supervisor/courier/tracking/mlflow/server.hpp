// The calls of MLflow's REST (2.0) that a run needs.
//
// Errors: transient (the server or the network: as long as wait_until_ms() says, if it does),
// permanent (it refuses us, with what to look at). None says a token.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::tracking {

class MlflowServer {
 public:
  MlflowServer(orders::Mlflow place, const net::Settings& network, const std::stop_token& stop)
      : place_(std::move(place)), client_(network, stop) {}

  // For calls from here on.
  void at(std::int64_t now_ms) {
    now_ms_ = now_ms;
    wait_until_ms_ = 0;
  }
  // Until when the server asked to be left alone; 0: it did not.
  [[nodiscard]] std::int64_t wait_until_ms() const { return wait_until_ms_; }
  [[nodiscard]] std::string host() const { return net::shown_host(place_.url); }

  // The server's id of the run that is called `run` by us: found, or made.
  Result<std::string> find_run(const std::string& run, const std::string& program,
                               std::int64_t began_ms);

  enum class Outcome { done, gone };  // gone: somebody removed the run there
  // Metrics, parameters and tags.
  Result<Outcome> log(const std::string& run_id, json::object content);
  Result<Outcome> set_status(const std::string& run_id, json::object status);

 private:
  struct Reply {
    int status = 0;
    std::string code;  // MLflow's own, of a refusal: letters and _
    json::object body;
  };
  Result<Reply> call(const std::string& method, const std::string& what, const json::object* body);
  Result<Outcome> tell(const std::string& what, const std::string& run_id, json::object body,
                       const std::string& told);
  Result<std::string> find_experiment();
  Result<bool> is_gone(const Reply& refusal, const std::string& run_id);
  [[nodiscard]] tl::unexpected<Error> refused(const Reply& reply, const std::string& what) const;

  orders::Mlflow place_;
  net::HttpClient client_;
  std::int64_t now_ms_ = 0;
  std::int64_t wait_until_ms_ = 0;
};

}  // namespace trainward::tracking
