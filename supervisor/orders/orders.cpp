#include "supervisor/orders/orders.hpp"

#include <utility>

namespace trainward::orders {

bool Orders::empty() const { return uploads.empty(); }

json::object to_json(const Orders& orders) {
  json::array uploads;
  for (const UploadOrder& order : orders.uploads) uploads.emplace_back(to_json(order));
  return {{"state_dir", orders.state_dir},
          {"database", orders.database},
          {"proxy", orders.proxy},
          {"certificates", orders.certificates},
          {"uploads", std::move(uploads)}};
}

Result<Orders> from_json(const json::value& value) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "the orders are no object");
  const json::object& object = value.get_object();
  Orders orders;
  for (const auto& [key, target] :
       {std::pair("state_dir", &orders.state_dir), std::pair("database", &orders.database)}) {
    auto text = get_string(object, key);
    if (!text) return propagate(text);
    if (!text->starts_with('/')) {
      return fail(ErrorKind::corrupt, fmt::format("'{}' is no absolute path", key));
    }
    *target = std::move(*text);
  }
  orders.proxy = string_or(object, "proxy", "");
  orders.certificates = string_or(object, "certificates", "");
  if (const json::value* uploads = object.if_contains("uploads")) {
    if (!uploads->is_array()) return fail(ErrorKind::corrupt, "'uploads' is no list");
    for (const json::value& item : uploads->get_array()) {
      auto order = upload_order_from_json(item);
      if (!order) return propagate(order);
      orders.uploads.push_back(std::move(*order));
    }
  }
  return orders;
}

std::string line_of(const Orders& orders) { return json::serialize(to_json(orders)); }

Result<Orders> from_line(std::string_view line) {
  if (line.size() > most_order_bytes) {
    return fail(ErrorKind::corrupt, "the orders are longer than they may be");
  }
  auto value = parse_json(line, "the orders");
  if (!value) return propagate(value);
  return from_json(*value);
}

}  // namespace trainward::orders
