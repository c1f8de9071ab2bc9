#include "supervisor/orders/orders.hpp"

#include <utility>

namespace trainward::orders {

bool Orders::empty() const { return channels.empty(); }

json::object to_json(const Orders& orders) {
  json::array channels;
  for (const Channel& channel : orders.channels) channels.push_back(to_json(channel));
  return {{"state_dir", orders.state_dir},
          {"database", orders.database},
          {"proxy", orders.proxy},
          {"certificates", orders.certificates},
          {"channels", std::move(channels)}};
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
  if (object.contains("channels")) {
    auto channels = get_array(object, "channels");
    if (!channels) return propagate(channels);
    for (const json::value& item : **channels) {
      auto channel = channel_from_json(item);
      if (!channel) return propagate(channel);
      orders.channels.push_back(std::move(*channel));
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
