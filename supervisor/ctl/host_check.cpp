#include "supervisor/ctl/host_check.hpp"

#include "hwprobe/described/described.hpp"
#include "hwprobe/topology/place.hpp"

namespace trainward::ctl {
namespace {

// What is wrong, in words; empty: nothing.
std::string trouble_of(const config::Program& program) {
  const auto report = hwprobe::look_at_described(*program.host);
  if (!report) return report.error().message();
  if (!program.mesh) return {};
  hwprobe::Graph graph = hwprobe::make_graph(*report);
  for (hwprobe::GraphLink& link : graph.links) link.state = hwprobe::LinkState::up;
  const hwprobe::MeshShape shape{static_cast<std::size_t>(program.mesh->rows),
                                 static_cast<std::size_t>(program.mesh->columns)};
  const auto any = [](const hwprobe::Graph&, std::size_t) { return true; };
  const auto place = hwprobe::place(graph, shape, any);
  return place ? "" : fmt::format("{} ({})", place.error().what, program.host->string());
}

}  // namespace

config::Problems check_hosts(const config::Config& config) {
  config::Problems problems;
  for (const config::Program& program : config.programs) {
    if (!program.host) continue;
    std::string trouble = trouble_of(program);
    if (trouble.empty()) continue;
    problems.push_back(
        {config.file.string(), 0, 0, fmt::format("programs.{}: {}", program.name, trouble)});
  }
  return problems;
}

}  // namespace trainward::ctl
