#include "trainer/model/llama/rope_config.hpp"

#include <fmt/format.h>

#include <string>

namespace trainward::trainer {

namespace {

// Both spellings in one file, saying different things: transformers 4 reads one, 5 the other.
Status check_agreement(const ConfigReader& config, const ConfigReader& newer,
                       const json::object* older) {
  const double theta = newer.number("rope_theta", 0);
  if (config.has("rope_theta") && newer.has("rope_theta") &&
      config.number("rope_theta", 0) != theta) {
    return config.refuse("rope_theta",
                         fmt::format("is {}, and rope_parameters.rope_theta is {}",
                                     config.number("rope_theta", 0), theta),
                         "keep the one that the model was trained with");
  }
  if (older == nullptr) return {};
  const ConfigReader scaling = config.inside("rope_scaling", *older);
  const auto type = [](const ConfigReader& of) {
    return of.text("rope_type", of.text("type", "default"));
  };
  if (type(scaling) == type(newer) && scaling.number("factor", 1) == newer.number("factor", 1)) {
    return {};
  }
  return config.refuse("rope_scaling", "says another thing than rope_parameters",
                       "keep the one that the model was trained with");
}

// "low_freq_factor, original_max_position_embeddings"
std::string missing_of(const ConfigReader& scaling) {
  std::string names;
  for (const std::string_view key :
       {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}) {
    if (!scaling.has(key)) names += (names.empty() ? "" : ", ") + std::string(key);
  }
  return names;
}

}  // namespace

Result<RopeSpec> read_rope(const ConfigReader& config, int edition) {
  RopeSpec rope;
  const json::object* newer = config.object("rope_parameters");
  const json::object* older = config.object("rope_scaling");
  const json::object nothing;
  const ConfigReader scaling = config.inside(newer != nullptr   ? "rope_parameters"
                                             : older != nullptr ? "rope_scaling"
                                                                : "",
                                             newer != nullptr   ? *newer
                                             : older != nullptr ? *older
                                                                : nothing);
  if (newer != nullptr && edition > 1) {
    if (auto ok = check_agreement(config, scaling, older); !ok) return propagate(ok);
  }
  rope.theta = config.number("rope_theta", 10000);
  if (newer != nullptr) rope.theta = scaling.number("rope_theta", rope.theta);
  for (const auto& [key, value] : newer != nullptr ? *newer : nothing) {
    if (value.is_object()) {
      return scaling.refuse(view(key), "rotates some layers otherwise, which is not built here",
                            "take another model of the family");
    }
  }
  if (scaling.number("partial_rotary_factor", 1) != 1) {
    return scaling.refuse("partial_rotary_factor", "is not 1", "only 1 is built");
  }
  const std::string type = scaling.text("rope_type", scaling.text("type", "default"));
  if (auto ok = scaling.finish(); !ok) return propagate(ok);
  if (type == "default") return rope;
  if (type != "linear" && type != "llama3") {
    return scaling.refuse("rope_type", fmt::format("is '{}', which is not built here", type),
                          "models with 'linear' or 'llama3', or without scaling, can be trained");
  }
  rope.scaling = type == "linear" ? RopeSpec::Scaling::linear : RopeSpec::Scaling::llama3;
  if (const std::string missing = missing_of(scaling);
      type == "llama3" && edition > 1 && !missing.empty()) {
    return scaling.refuse("rope_type", fmt::format("is 'llama3', which needs {} too", missing),
                          "copy them from the model's own config.json");
  }
  rope.factor = scaling.number("factor", 0);
  if (!(rope.factor >= 1)) return scaling.refuse("factor", "is not a number of at least 1", "");
  if (type == "linear") return rope;
  rope.low = scaling.number("low_freq_factor", 1);
  rope.high = scaling.number("high_freq_factor", 4);
  rope.original_positions = scaling.whole("original_max_position_embeddings", 0);
  if (auto ok = scaling.finish(); !ok) return propagate(ok);
  if (!(rope.low > 0 && rope.high > rope.low) || rope.original_positions < 1) {
    return scaling.refuse("original_max_position_embeddings",
                          "or the frequency factors do not fit together",
                          "they must be above 0, and high_freq_factor above low_freq_factor");
  }
  return rope;
}

json::object rope_scaling(const RopeSpec& rope) {
  json::object out{{"factor", rope.factor}};
  const bool linear = rope.scaling == RopeSpec::Scaling::linear;
  out["rope_type"] = linear ? "linear" : "llama3";
  if (linear) return out;
  out["low_freq_factor"] = rope.low;
  out["high_freq_factor"] = rope.high;
  out["original_max_position_embeddings"] = rope.original_positions;
  return out;
}

}  // namespace trainward::trainer
