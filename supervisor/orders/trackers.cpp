#include "supervisor/orders/trackers.hpp"

#include <utility>

namespace trainward::orders {
namespace {

tl::unexpected<Error> no_tracker(std::string what) {
  return fail(ErrorKind::corrupt, "no order about trackers: " + std::move(what));
}

}  // namespace

json::object to_json(const Tracking& tracking) {
  json::object out{{"tensorboard", tracking.tensorboard}, {"every", tracking.every}};
  if (tracking.mlflow) {
    out["mlflow"] = {{"url", tracking.mlflow->url},
                     {"experiment", tracking.mlflow->experiment},
                     {"token_file", tracking.mlflow->token_file}};
  }
  return out;
}

json::object to_json(const TrackingOrder& order) {
  return {{"program", order.program},
          {"tracking", to_json(order.tracking)},
          {"hparams", order.hparams}};
}

Result<Tracking> tracking_from_json(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return no_tracker("it is no object");
  Tracking out;
  out.tensorboard = string_or(*object, "tensorboard", "");
  out.every = int_or(*object, "every", 0);
  if (out.every < 1) return no_tracker("'every' is less than 1");
  if (!object->contains("mlflow")) return out;
  const auto server = get_object(*object, "mlflow");
  if (!server) return no_tracker("'mlflow' is no object");
  out.mlflow = Mlflow{string_or(**server, "url", ""), string_or(**server, "experiment", ""),
                      string_or(**server, "token_file", "")};
  if (out.mlflow->url.empty() || out.mlflow->experiment.empty()) {
    return no_tracker("'mlflow' without an address or an experiment");
  }
  return out;
}

Result<TrackingOrder> tracking_order_from_json(const json::value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return no_tracker("it is no object");
  const auto program = get_string(*object, "program");
  const auto hparams = get_object(*object, "hparams");
  if (!program || program->empty()) return no_tracker("it names no program");
  if (!hparams) return no_tracker("'hparams' is no object");
  const json::value* said = object->if_contains("tracking");
  auto tracking = tracking_from_json(said == nullptr ? json::value() : *said);
  if (!tracking) return propagate(tracking);
  return TrackingOrder{*program, std::move(*tracking), **hparams};
}

}  // namespace trainward::orders
