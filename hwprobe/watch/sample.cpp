#include "hwprobe/watch/sample.hpp"

#include <cmath>

namespace trainward::hwprobe {
namespace {

constexpr double most = 1e6;  // degrees, watts, volts, ampere: no board has that
constexpr std::size_t longest_name = 64;

// Every number of a sample with its name, once for both directions.
template <typename S, typename Visit>
void each_number(S& sample, Visit visit) {
  visit("temperature_c", sample.temperature_c);
  visit("limit_c", sample.limit_c);
  visit("power_w", sample.power_w);
  visit("power_limit_w", sample.power_limit_w);
  visit("voltage_v", sample.voltage_v);
  visit("current_a", sample.current_a);
  visit("clock_mhz", sample.clock_mhz);
  visit("heartbeat", sample.heartbeat);
  visit("aer_correctable", sample.aer_correctable);
  visit("aer_nonfatal", sample.aer_nonfatal);
  visit("aer_fatal", sample.aer_fatal);
}

void take(const json::object& object, const char* name, std::optional<double>& into) {
  const auto number = get_number(object, name);
  if (number && std::isfinite(*number) && std::abs(*number) <= most) into = *number;
}

void take(const json::object& object, const char* name, std::optional<std::int64_t>& into) {
  const auto number = get_int(object, name);
  if (number && *number >= 0) into = *number;
}

}  // namespace

bool says_something(const Sample& sample) {
  bool something = false;
  each_number(sample, [&](const char*, const auto& number) { something |= number.has_value(); });
  return something;
}

json::object to_json(const Sample& sample) {
  json::object object{{"board", sample.board}};
  if (!sample.present) object["present"] = false;
  each_number(sample, [&](const char* name, const auto& number) {
    if (number) object[name] = *number;
  });
  return object;
}

Result<Sample> sample_from_json(const json::value& value) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "is not a sample of a board", "a sample");
  const json::object& object = value.get_object();
  auto board = get_string(object, "board");
  if (!board) return propagate(board);
  if (board->empty() || board->size() > longest_name) {
    return fail(ErrorKind::corrupt, "names no board", "a sample");
  }
  Sample sample;
  sample.board = std::move(*board);
  sample.present = bool_or(object, "present", true);
  each_number(sample, [&](const char* name, auto& number) { take(object, name, number); });
  return sample;
}

}  // namespace trainward::hwprobe
