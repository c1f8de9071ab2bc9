// What the links of a kind of machine do: the rates and latencies that the cost of a sum over chips
// is made of.
//
// A row of `fabrics` for each kind of Tenstorrent machine; between processes of one host and
// between hosts the rate is the caller's. Rates are bytes a second, times are seconds. A rate is
// that of a whole all-reduce: 2 (N-1) / N of the bytes, divided by the time it takes without
// latency. A ring uses both directions of a link, so its rate may be above the link's.
//
// Each figure says where it comes from. None of them was measured by this project. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainward::mesh {

// In falling reliability: what is made of two figures is as good as the worse one.
enum class Source {
  measured,     // on machines of this kind
  transferred,  // measured on another kind, or with another number of chips, with the same links
  computed,     // from other figures, never measured
  given,        // by the caller
};

std::string_view to_string(Source source);

struct Rate {
  double bytes_per_second = 0;
  Source source = Source::given;
  std::int64_t chips = 0;  // with how many it was measured; 0: it holds for any number
};

struct Latency {
  double start = 0;     // seconds, once
  double line_hop = 0;  // seconds for each chip of a line after the first
  double ring_hop = 0;  // seconds for each of N/2 hops of a ring
};

struct Fabric {
  std::string_view name;
  int links_an_edge = 0;  // between two neighbours; 0: not known
  int reserved = 0;       // of those, what the runtime keeps for commands to remote chips
  bool switched = false;  // any two reach each other, through one port each
  Rate pair;              // two chips
  Rate line;              // more than two
  Rate ring;
  Latency latency;
};

enum class Machine { n300, t3k, galaxy, count };

// A Wormhole link carries 100 Gb/s in each direction, of which at most 96 % are payload
// (tt-metal, tech_reports/EthernetMultichip).
inline constexpr double wormhole_link = 12.5e9 * 0.96;

// Measured by Tenstorrent on a T3K, in bf16 (tt-metal, tech_reports/CCLs/results): one link of the
// two of an edge, since the other is kept for dispatch. Fits over 64 KiB to 1 GiB.
inline constexpr Latency t3k_latency{.start = 9.07e-6, .line_hop = 5.82e-6, .ring_hop = 5.25e-6};
inline constexpr double t3k_pair = 7.42e9;
inline constexpr double t3k_line = 10.9e9;
inline constexpr double t3k_ring = 18.4e9;  // of 8

inline constexpr std::array<Fabric, static_cast<std::size_t>(Machine::count)> fabrics{{
    // The edge between its two chips is like one of a T3K.
    {.name = "n300",
     .links_an_edge = 2,
     .reserved = 1,
     .pair = {t3k_pair, Source::transferred, 2},
     .line = {t3k_line, Source::transferred},
     .ring = {t3k_ring, Source::transferred, 8},
     .latency = t3k_latency},
    {.name = "t3k",
     .links_an_edge = 2,
     .reserved = 1,
     .pair = {t3k_pair, Source::measured, 2},
     .line = {t3k_line, Source::measured},
     .ring = {t3k_ring, Source::measured, 8},
     .latency = t3k_latency},
    // Four links an edge, all usable: four times what one link of a T3K does. Nobody has published
    // a measurement.
    {.name = "galaxy",
     .links_an_edge = 4,
     .reserved = 0,
     .pair = {4 * t3k_pair, Source::computed},
     .line = {4 * t3k_line, Source::computed},
     .ring = {4 * t3k_ring, Source::computed},
     .latency = t3k_latency},
}};

constexpr const Fabric& fabric_of(Machine machine) {
  return fabrics[static_cast<std::size_t>(machine)];
}

// Processes of one host, or hosts over TCP: each sends and receives bytes_per_second at a time, and
// each message takes message_seconds more. Both are taken as 0 or above; without a rate, nothing
// arrives and every sum takes for ever (infinity).
Fabric network(double bytes_per_second, double message_seconds);

// What the usable links of an edge can carry in one direction, bytes a second. No line is faster,
// and no ring, which uses both directions, more than twice as fast. 0: not known.
double ceiling(const Fabric& fabric);

}  // namespace trainward::mesh
