// What the courier is told about trackers: where the curve of a program is to be seen elsewhere.
// Pure values, without a secret in them: a token is named by its file or variable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::orders {

// A server that speaks MLflow's REST.
struct Mlflow {
  std::string url;         // "https://mlflow.example.com", also with a path; no '/' at its end
  std::string experiment;  // found by its name, or made
  // A token, or `user:password`. Absolute, a name in $CREDENTIALS_DIRECTORY, or "env:NAME"; empty:
  // MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and _PASSWORD, of the environment.
  std::string token_file;
  friend bool operator==(const Mlflow&, const Mlflow&) = default;
};

struct Tracking {
  std::string tensorboard;  // absolute folder, in which the program gets one; empty: none
  std::optional<Mlflow> mlflow;
  std::int64_t every = 1;  // steps: of so many one is shown, the first
  [[nodiscard]] bool empty() const { return tensorboard.empty() && !mlflow; }
  friend bool operator==(const Tracking&, const Tracking&) = default;
};

// Of one program.
struct TrackingOrder {
  std::string program;
  Tracking tracking;
  // What it was told, without secrets: texts, numbers and flags by dotted names
  // ("training_config.learning_rate").
  json::object hparams;
  friend bool operator==(const TrackingOrder&, const TrackingOrder&) = default;
};

json::object to_json(const Tracking& tracking);
json::object to_json(const TrackingOrder& order);
// What to_json() made; kind corrupt for anything else.
Result<Tracking> tracking_from_json(const json::value& value);
Result<TrackingOrder> tracking_order_from_json(const json::value& value);

}  // namespace trainward::orders
