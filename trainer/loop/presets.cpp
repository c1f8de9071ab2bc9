#include "trainer/loop/presets.hpp"

#include <array>
#include <string>
#include <vector>

#include "common/text.hpp"

namespace trainward::trainer {
namespace {

constexpr std::int64_t byte_vocabulary = 257;

struct Named {
  std::string name;
  ModelSpec model;
};

struct Family {
  std::string_view name;
  std::int64_t width;
  std::int64_t layers;
  std::int64_t heads;
  std::vector<std::int64_t> expansions;
};

std::vector<Named> all_presets() {
  std::vector<Named> presets{
      {"small", {512, 8, 16, 64, byte_vocabulary}},
      {"smallx2", {512, 16, 16, 64, byte_vocabulary}},
      {"base", {768, 12, 24, 96, byte_vocabulary}},
      {"base18", {768, 18, 24, 96, byte_vocabulary}},
      {"large", {1024, 24, 16, 128, byte_vocabulary}},
  };
  const std::array<Family, 4> families{{
      {"femto", 16, 1, 1, {1, 12, 24}},
      {"pico", 32, 1, 2, {1, 3, 6, 12, 24, 48}},
      {"nano", 64, 2, 4, {1, 3, 6, 12, 24, 48, 96}},
      {"micro", 128, 4, 8, {3, 6, 12, 24}},
  }};
  for (const Family& family : families) {
    for (const std::int64_t k : family.expansions) {
      presets.push_back({fmt::format("{}_{}x", family.name, k),
                         {family.width, family.layers, family.heads,
                          k * family.width / family.heads, byte_vocabulary}});
    }
  }
  return presets;
}

}  // namespace

Result<ModelSpec> preset(std::string_view name) {
  const std::vector<Named> presets = all_presets();
  std::vector<std::string_view> names;
  for (const Named& known : presets) {
    if (known.name == name) return known.model;
    names.emplace_back(known.name);
  }
  const std::string close = nearest(name, names);
  return fail(ErrorKind::usage, fmt::format("there is no model '{}'", name), "model",
              close.empty() ? "femto_1x, pico_3x, nano_3x, micro_3x, small, base, large"
                            : fmt::format("did you mean '{}'?", close));
}

}  // namespace trainward::trainer
