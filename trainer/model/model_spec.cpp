#include "trainer/model/model_spec.hpp"

#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "common/base/text.hpp"
#include "common/settings/model_presets.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/columns.hpp"

namespace trainward::trainer {

double LoraSpec::scale() const {
  const auto by = static_cast<double>(rank);
  return alpha / (stabilised ? std::sqrt(by) : by);
}

Status check_spec(const TrainingSpec& spec) {
  const ModelSpec& model = spec.model;
  struct Size {
    const char* name;
    std::int64_t value;
    std::int64_t least;
  };
  const std::array<Size, 12> sizes{{{"width", model.width, 1},
                                    {"layers", model.layers, 1},
                                    {"heads", model.heads, 1},
                                    {"rank", model.rank, 1},
                                    {"vocabulary", model.vocabulary, 2},
                                    {"batch size", spec.batch_size, 1},
                                    {"accumulation", spec.accumulation, 1},
                                    {"number of ranks", spec.ranks, 1},
                                    {"number of columns", spec.columns, 1},
                                    {"block size", spec.block_size, 2},
                                    {"warm-up", spec.schedule.warmup_steps, 0},
                                    {"threads", spec.threads, 1}}};
  for (const Size& size : sizes) {
    if (size.value < size.least || size.value > std::int64_t{1} << 31) {
      return fail(ErrorKind::usage, fmt::format("the {} cannot be {}", size.name, size.value), {},
                  fmt::format("it must be at least {}", size.least));
    }
  }
  if (model.own_head_width == 0 && model.width % model.heads != 0) {
    return fail(ErrorKind::usage, fmt::format("a width of {} does not divide into {} heads",
                                              model.width, model.heads));
  }
  struct Factor {
    const char* name;
    double value;
    double limit;  // exclusive
  };
  constexpr double any = HUGE_VAL;
  const std::array<Factor, 10> factors{{{"learning rate", spec.learning_rate, any},
                                        {"head learning rate", spec.head_learning_rate, any},
                                        {"weight decay", spec.weight_decay, any},
                                        {"beta1", spec.beta1, 1},
                                        {"beta2", spec.beta2, 1},
                                        {"epsilon", spec.epsilon, any},
                                        {"dropout", spec.dropout, 1},
                                        {"label smoothing", spec.label_smoothing, 1},
                                        {"final rate's share", spec.schedule.final_share, any},
                                        {"gradient clip", spec.gradient_clip, any}}};
  for (const Factor& factor : factors) {
    if (!(factor.value >= 0 && factor.value < factor.limit)) {
      return fail(ErrorKind::usage, fmt::format("the {} cannot be {}", factor.name, factor.value));
    }
  }
  if (auto ok = architecture_of(model).check(spec); !ok) return ok;
  return check_columns(spec);
}

Status check_tokens(const TokenBatch& batch, const TrainingSpec& spec, std::int64_t sequences) {
  const auto expected = static_cast<std::size_t>(sequences * spec.block_size);
  const auto tokens = batch.ids;
  if (batch.weights.size() != (spec.weighted ? expected : 0) ||
      batch.segments.size() != (spec.segmented ? expected : 0)) {
    return fail(ErrorKind::usage,
                fmt::format("{} tokens come with {} weights and {} segments", tokens.size(),
                            batch.weights.size(), batch.segments.size()));
  }
  if (tokens.size() != expected) {
    return fail(ErrorKind::usage,
                fmt::format("it takes {} tokens, not {}", expected, tokens.size()));
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= spec.model.vocabulary) {
      return fail(ErrorKind::usage,
                  fmt::format("token {} at position {} is outside the vocabulary of {}", tokens[i],
                              i, spec.model.vocabulary));
    }
  }
  return {};
}

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
