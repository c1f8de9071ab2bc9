#include "checkpoint/huggingface/model/lora.hpp"

#include <cmath>
#include <utility>

namespace trainward::checkpoint::huggingface {
namespace {

constexpr std::int64_t max_rank = 1 << 16;
constexpr std::size_t max_targets = 4096;

tl::unexpected<Error> no_such(std::string_view key, std::string_view expected) {
  return fail(ErrorKind::corrupt, fmt::format("'{}' is not {}", key, expected));
}

// nullptr when absent or null.
const json::value* present(const json::object& object, json::string_view key) {
  const json::value* found = object.if_contains(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

}  // namespace

double LoraSettings::scale() const {
  const auto rank = static_cast<double>(r);
  return alpha / (rank_stabilised ? std::sqrt(rank) : rank);
}

json::value number_value(double number) {
  const bool whole = std::nearbyint(number) == number && std::abs(number) < 1e15;
  return whole ? json::value(static_cast<std::int64_t>(number)) : json::value(number);
}

json::object to_json(const LoraSettings& lora) {
  return {{"r", lora.r},
          {"lora_alpha", number_value(lora.alpha)},
          {"lora_dropout", lora.dropout},
          {"use_rslora", lora.rank_stabilised},
          {"target_modules", json::array(lora.target_modules.begin(), lora.target_modules.end())}};
}

Result<LoraSettings> parse_lora(const json::object& object) {
  LoraSettings lora;
  auto r = get_int(object, "r");
  if (!r) return propagate(r);
  if (*r < 1 || *r > max_rank) return no_such("r", fmt::format("between 1 and {}", max_rank));
  lora.r = *r;
  auto alpha = get_number(object, "lora_alpha");
  if (!alpha) return propagate(alpha);
  if (!std::isfinite(*alpha)) return no_such("lora_alpha", "a finite number");
  lora.alpha = *alpha;
  if (const json::value* dropout = present(object, "lora_dropout")) {
    if (!dropout->is_number()) return no_such("lora_dropout", "a number");
    lora.dropout = dropout->to_number<double>();
  }
  if (!(lora.dropout >= 0 && lora.dropout < 1)) return no_such("lora_dropout", "between 0 and 1");
  if (const json::value* stabilised = present(object, "use_rslora")) {
    if (!stabilised->is_bool()) return no_such("use_rslora", "true or false");
    lora.rank_stabilised = stabilised->get_bool();
  }
  const json::value* targets = object.if_contains("target_modules");
  if (targets != nullptr && targets->is_string()) {
    // A pattern: the adapter's tensors say which modules it found.
    lora.target_modules.emplace_back(view(targets->get_string()));
    return lora;
  }
  auto names = get_array(object, "target_modules");
  if (!names) return propagate(names);
  if ((*names)->empty() || (*names)->size() > max_targets) {
    return no_such("target_modules", "a list of names");
  }
  for (const json::value& name : **names) {
    if (!name.is_string()) return no_such("target_modules", "a list of names");
    lora.target_modules.emplace_back(view(name.get_string()));
  }
  return lora;
}

std::optional<std::string_view> module_of(std::string_view tensor) {
  for (const std::string_view suffix : {suffix_a, suffix_b}) {
    if (tensor.size() > suffix.size() && tensor.ends_with(suffix)) {
      return tensor.substr(0, tensor.size() - suffix.size());
    }
  }
  return std::nullopt;
}

}  // namespace trainward::checkpoint::huggingface
