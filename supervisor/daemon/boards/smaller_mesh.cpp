#include "supervisor/daemon/boards/smaller_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/settings/setting.hpp"

namespace trainward::daemon {
namespace {

// Two chips are one already.
bool has_ring(const config::Mesh& mesh) {
  if (chips_of(mesh) <= 2) return true;
  return mesh.rows > 1 && mesh.columns > 1 && chips_of(mesh) % 2 == 0;
}

}  // namespace

std::int64_t chips_of(const config::Mesh& mesh) { return mesh.rows * mesh.columns; }

std::vector<config::Mesh> smaller_meshes(const config::Mesh& full, const StepWork& work) {
  std::vector<config::Mesh> meshes;
  if (work.divided) {
    for (std::int64_t rows = full.rows - 1; rows > 0; --rows) {
      if (settings::can_share(work.batch, work.accumulation, rows)) {
        meshes.push_back({rows, full.columns});
      }
    }
    return meshes;
  }
  for (std::int64_t chips = 1; chips < chips_of(full); ++chips) {
    if (!settings::can_share(work.batch, work.accumulation, chips)) continue;
    for (std::int64_t rows = 1; rows * rows <= chips; ++rows) {
      if (chips % rows != 0) continue;
      config::Mesh mesh{rows, chips / rows};
      if (full.rows > full.columns) std::swap(mesh.rows, mesh.columns);
      meshes.push_back(mesh);
    }
  }
  const auto merit = [](const config::Mesh& mesh) {
    return std::tuple(chips_of(mesh), has_ring(mesh), std::min(mesh.rows, mesh.columns));
  };
  std::ranges::stable_sort(meshes, std::greater<>(), merit);
  return meshes;
}

std::string name_of(const config::Mesh& mesh) {
  return fmt::format("{}x{}", mesh.rows, mesh.columns);
}

std::string cost_of(const config::Mesh& smaller, const config::Mesh& full) {
  const auto times = static_cast<double>(chips_of(full)) / static_cast<double>(chips_of(smaller));
  return fmt::format("a step takes about {:.3g} times as long", times);
}

}  // namespace trainward::daemon
