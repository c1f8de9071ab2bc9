#include "trainer/loop/presets.hpp"

#include <fmt/ranges.h>

#include "common/base/text.hpp"
#include "common/settings/model_presets.hpp"
#include "trainer/model/architecture.hpp"

namespace trainward::trainer {

Result<ModelSpec> preset(std::string_view name) {
  constexpr std::int64_t byte_vocabulary = 257;
  for (const settings::ModelPreset& known : settings::model_presets) {
    if (known.name != name) continue;
    auto architecture = find_architecture(known.architecture);
    if (!architecture) return propagate(architecture);
    ModelSpec model{known.width, known.layers, known.heads, known.rank, byte_vocabulary};
    model.positions = known.positions;
    model.architecture = *architecture;
    model.tied = architecture_of(model).always_tied();
    return model;
  }
  const std::string close = nearest(name, settings::model_names);
  return fail(ErrorKind::usage, fmt::format("there is no model '{}'", name), "model",
              close.empty() ? fmt::format("known: {}", fmt::join(settings::model_names, ", "))
                            : fmt::format("did you mean '{}'?", close));
}

}  // namespace trainward::trainer
