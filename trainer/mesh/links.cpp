#include "trainer/mesh/links.hpp"

#include <algorithm>

namespace trainward::mesh {

std::string_view to_string(Source source) {
  switch (source) {
    case Source::measured:
      return "measured";
    case Source::transferred:
      return "transferred";
    case Source::computed:
      return "computed";
    case Source::given:
      return "given";
  }
  return "unknown";
}

Fabric network(double bytes_per_second, double message_seconds) {
  const Rate rate{std::max(0.0, bytes_per_second), Source::given};
  const double message = std::max(0.0, message_seconds);
  // A sum over N is 2 (N-1) messages, one after the other.
  return {.name = "network",
          .switched = true,
          .pair = rate,
          .line = rate,
          .ring = rate,
          .latency = {.line_hop = 2 * message}};
}

double ceiling(const Fabric& fabric) {
  return wormhole_link * (fabric.links_an_edge - fabric.reserved);
}

}  // namespace trainward::mesh
