#include "supervisor/orders/orders.hpp"

#include <utility>

namespace trainward::orders {
namespace {

template <typename Item>
json::array list_of(const std::vector<Item>& items) {
  json::array list;
  for (const Item& item : items) list.emplace_back(to_json(item));
  return list;
}

// Absent: none of them.
template <typename Item>
Status read_list(const json::object& object, std::string_view key,
                 Result<Item> (*read)(const json::value&), std::vector<Item>& items) {
  const json::value* list = object.if_contains(key);
  if (list == nullptr) return {};
  if (!list->is_array()) return fail(ErrorKind::corrupt, fmt::format("'{}' is no list", key));
  for (const json::value& value : list->get_array()) {
    auto item = read(value);
    if (!item) return propagate(item);
    items.push_back(std::move(*item));
  }
  return {};
}

}  // namespace

bool Orders::empty() const { return channels.empty() && tracking.empty() && uploads.empty(); }

json::object to_json(const Orders& orders) {
  return {{"state_dir", orders.state_dir},
          {"database", orders.database},
          {"proxy", orders.proxy},
          {"certificates", orders.certificates},
          {"channels", list_of(orders.channels)},
          {"tracking", list_of(orders.tracking)},
          {"uploads", list_of(orders.uploads)}};
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
  if (auto read = read_list(object, "channels", channel_from_json, orders.channels); !read) {
    return propagate(read);
  }
  if (auto read = read_list(object, "tracking", tracking_order_from_json, orders.tracking); !read) {
    return propagate(read);
  }
  if (auto read = read_list(object, "uploads", upload_order_from_json, orders.uploads); !read) {
    return propagate(read);
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
