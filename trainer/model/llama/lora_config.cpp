#include "trainer/model/llama/lora_config.hpp"

#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <vector>

#include "trainer/model/huggingface/config_reader.hpp"
#include "trainer/model/llama/llama.hpp"

namespace trainward::trainer {
Status check_lora(const LoraSpec& lora) {
  constexpr std::int64_t most_rank = 1 << 16;
  const auto no = [](std::string_view what, auto value, std::string cure) -> Status {
    return fail(ErrorKind::usage, fmt::format("the {} of adapters cannot be {}", what, value), {},
                std::move(cure));
  };
  if (lora.rank > most_rank) return no("rank", lora.rank, fmt::format("at most {}", most_rank));
  if (!(lora.alpha > 0) || !std::isfinite(lora.alpha)) {
    return no("alpha", lora.alpha, "it must be above 0");
  }
  if (!(lora.dropout >= 0 && lora.dropout < 1)) {
    return no("dropout", lora.dropout, "it must be at least 0, and below 1");
  }
  if (lora.targets == 0) return no("target modules", "none", "name at least one, or all-linear");
  return {};
}

Result<std::uint32_t> lora_targets(std::string_view name) {
  std::uint32_t targets = 0;
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < linears; ++i) {
    const std::string_view place = place_of(static_cast<Linear>(i));
    known.push_back(place.substr(place.rfind('.') + 1));
    const bool fits = name == "all-linear" || place == name || known.back() == name;
    if (fits) targets |= 1U << i;
  }
  if (targets != 0) return targets;
  return fail(ErrorKind::usage, fmt::format("'{}' is not a linear layer of a Llama's block", name),
              "target_modules", fmt::format("known: {}, or all-linear", fmt::join(known, ", ")));
}

Result<LoraSpec> read_lora(const json::object& object, std::string_view where) {
  const ConfigReader config(object, std::string(where));
  LoraSpec lora;
  lora.rank = config.whole("r", 8);
  lora.alpha = config.number("lora_alpha", 8);
  lora.dropout = config.number("lora_dropout", 0);
  lora.stabilised = config.flag("use_rslora", false);
  const auto add = [&](std::string_view name) -> Status {
    auto targets = lora_targets(name);
    if (!targets) return propagate(targets);
    lora.targets |= *targets;
    return {};
  };
  const json::value* targets = object.if_contains("target_modules");
  Status ok;
  if (targets != nullptr && targets->is_string()) ok = add(view(targets->get_string()));
  if (targets != nullptr && targets->is_array()) {
    for (const json::value& name : targets->get_array()) {
      if (!name.is_string()) return config.refuse("target_modules", "is not a list of names", "");
      if (ok) ok = add(view(name.get_string()));
    }
  }
  if (ok) ok = config.finish();
  if (!ok) return propagate(ok);
  if (lora.rank < 1 || lora.targets == 0) {
    return config.refuse("target_modules", "or r asks for no adapter at all", "");
  }
  return lora;
}

json::object lora_config(const LoraSpec& lora) {
  json::array targets;
  for (std::size_t i = 0; i < linears; ++i) {
    if (!lora.adapts(static_cast<Linear>(i))) continue;
    const std::string_view place = place_of(static_cast<Linear>(i));
    targets.emplace_back(place.substr(place.rfind('.') + 1));
  }
  return {{"r", lora.rank},
          {"lora_alpha", lora.alpha},
          {"lora_dropout", lora.dropout},
          {"use_rslora", lora.stabilised},
          {"target_modules", std::move(targets)}};
}

}  // namespace trainward::trainer
