#include "trainer/loop/presets.hpp"

#include <fmt/ranges.h>

#include "common/settings/model_presets.hpp"
#include "common/text.hpp"

namespace trainward::trainer {

Result<ModelSpec> preset(std::string_view name) {
  constexpr std::int64_t byte_vocabulary = 257;
  for (const settings::ModelPreset& known : settings::model_presets) {
    if (known.name != name) continue;
    return ModelSpec{known.width, known.layers, known.heads, known.rank, byte_vocabulary};
  }
  const std::string close = nearest(name, settings::model_names);
  return fail(ErrorKind::usage, fmt::format("there is no model '{}'", name), "model",
              close.empty() ? fmt::format("known: {}", fmt::join(settings::model_names, ", "))
                            : fmt::format("did you mean '{}'?", close));
}

}  // namespace trainward::trainer
