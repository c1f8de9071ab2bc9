#include "trainer/mesh/all_reduce.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "trainer/mesh/ring_order.hpp"

namespace trainward::mesh {
namespace {

// The parts are as many as the chips; each part passes all links but one, and does so twice: while
// it is summed, and while the sum is handed out.
double passing(double chips, double bytes) { return 2 * (chips - 1) / chips * bytes; }

// 0 bytes take no time on any link, even on one that carries nothing.
double transfer(double bytes, const Rate& rate) {
  return bytes > 0 ? bytes / rate.bytes_per_second : 0;
}

Source source_for(const Rate& rate, std::int64_t chips) {
  const bool as_measured = rate.chips == 0 || rate.chips == chips;
  return as_measured ? rate.source : std::max(rate.source, Source::transferred);
}

AllReduceCost line_of(std::int64_t chips, const Fabric& fabric, double bytes) {
  if (chips <= 1) return {};
  const auto count = static_cast<double>(chips);
  const Rate& rate = chips == 2 ? fabric.pair : fabric.line;
  const double through = passing(count, bytes);
  const double waits = fabric.latency.start + fabric.latency.line_hop * (count - 1);
  return {waits + transfer(through, rate), through, source_for(rate, chips)};
}

AllReduceCost ring_of(std::int64_t chips, const Fabric& fabric, double bytes) {
  if (chips <= 1) return {};
  const auto count = static_cast<double>(chips);
  const double through = passing(count, bytes);
  const double hops =
      fabric.switched ? fabric.latency.line_hop * (count - 1) : fabric.latency.ring_hop * count / 2;
  return {fabric.latency.start + hops + transfer(through, fabric.ring), through,
          source_for(fabric.ring, chips)};
}

double counted(std::int64_t bytes) { return static_cast<double>(std::max<std::int64_t>(0, bytes)); }

}  // namespace

AllReduceCost line(std::int64_t chips, const Fabric& fabric, std::int64_t bytes) {
  return line_of(chips, fabric, counted(bytes));
}

AllReduceCost ring(std::int64_t chips, const Fabric& fabric, std::int64_t bytes) {
  return ring_of(chips, fabric, counted(bytes));
}

AllReduceCost rows_then_columns(const Mesh& mesh, const Fabric& fabric, std::int64_t bytes) {
  const double all = counted(bytes);
  const AllReduceCost rows = line_of(mesh.columns, fabric, all);
  const double part = all / static_cast<double>(std::max<std::int64_t>(1, mesh.columns));
  const AllReduceCost columns = line_of(mesh.rows, fabric, part);
  AllReduceCost cost;
  cost.seconds = rows.seconds + columns.seconds;
  // A host has one port for both; chips have links of their own for rows and for columns.
  cost.link_bytes = fabric.switched ? rows.link_bytes + columns.link_bytes
                                    : std::max(rows.link_bytes, columns.link_bytes);
  cost.source = std::max(rows.source, columns.source);
  const bool both = mesh.rows > 1 && mesh.columns > 1;
  // Nobody measured the two in a row.
  if (both) cost.source = std::max(cost.source, Source::computed);
  return cost;
}

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::single:
      return "single";
    case Algorithm::line:
      return "line";
    case Algorithm::ring:
      return "ring";
    case Algorithm::rows_and_columns:
      return "rows and columns";
  }
  return "unknown";
}

// Columns before rows need no place here: where both sides have three chips or more they cost the
// same, and where one has two the ring is cheaper.
AllReduceChoice choose(const Mesh& mesh, const Fabric& fabric, std::int64_t bytes) {
  const std::int64_t chips = mesh.devices();
  if (chips <= 1) return {};
  const bool can_ring = fabric.switched || has_ring(mesh);
  AllReduceChoice best;
  const auto consider = [&best](Algorithm algorithm, const AllReduceCost& cost) {
    const bool first = best.algorithm == Algorithm::single;
    if (first || cost.seconds < best.cost.seconds) best = {algorithm, cost};
  };
  // Over a network a line is a ring that leaves one way unused.
  if (!fabric.switched) consider(Algorithm::line, line(chips, fabric, bytes));
  if (can_ring) consider(Algorithm::ring, ring(chips, fabric, bytes));
  if (mesh.rows > 1 && mesh.columns > 1) {
    consider(Algorithm::rows_and_columns, rows_then_columns(mesh, fabric, bytes));
  }
  return best;
}

std::string to_string(const AllReduceChoice& choice) {
  if (choice.algorithm == Algorithm::single) return "single: nothing to sum";
  return fmt::format("{}: {:.3g} ms, {} through the narrowest link ({})",
                     to_string(choice.algorithm), 1000 * choice.cost.seconds,
                     human_bytes(static_cast<std::uint64_t>(choice.cost.link_bytes)),
                     to_string(choice.cost.source));
}

}  // namespace trainward::mesh
