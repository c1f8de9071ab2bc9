// What is said of messages and uploads that are on their way, from the API's document
// /v1/deliveries: nothing while all is well and nothing moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"

namespace trainward::views {

struct DeliveryLine {
  std::string text;
  bool is_trouble = false;
};

// What fails first: that nothing is delivered at all, jobs that fail, then uploads under way. At
// most `most` lines; the last then says how many more there are.
std::vector<DeliveryLine> delivery_lines(const json::object& document, std::int64_t now_ms,
                                         std::size_t most = 8);

}  // namespace trainward::views
