// Cluster descriptors: whatever is accepted can be expected of a host and be a graph, and a mesh is
// laid on it or refused with words.
#include "hwprobe/tenstorrent/look/cluster_descriptor.hpp"
#include "hwprobe/topology/place.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  const auto descriptor = hwprobe::read_cluster_descriptor(fuzz::text_of(data, size), "input");
  if (!descriptor) {
    fuzz::require(!descriptor.error().what.empty(), "a refusal says why");
    return 0;
  }
  hwprobe::Report report;
  hwprobe::apply_expected(report, descriptor->expected);
  fuzz::require(report.boards.size() <= descriptor->expected.boards.size(),
                "only what is expected");
  const hwprobe::Graph graph = hwprobe::make_graph(report, descriptor->expected);
  for (const hwprobe::GraphLink& link : graph.links) {
    fuzz::require(link.from < link.to && link.to < graph.chips.size(), "links join chips");
  }
  hwprobe::Preferences few;
  few.max_steps = 200;
  const auto all = [](const hwprobe::Graph&, std::size_t) { return true; };
  const auto placement = hwprobe::place(graph, {1, 2}, all, few);
  fuzz::require(placement || !placement.error().what.empty(), "a refusal says why");
  return 0;
}
