#include "supervisor/orders/left.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/json/json.hpp"

namespace trainward::orders {

std::string line_of(const Left& left) {
  json::array jobs;
  for (const Left::Job& job : left.jobs) {
    jobs.emplace_back(json::object{
        {"name", job.name}, {"done", job.done}, {"of", job.of}, {"trouble", job.trouble}});
  }
  return json::serialize(json::object{{"left", std::move(jobs)}, {"read_bytes", left.read_bytes}});
}

std::optional<Left> left_from(std::string_view line) {
  const auto value = parse_json(line, "what is left");
  if (!value || !value->is_object()) return std::nullopt;
  const auto jobs = get_array(value->get_object(), "left");
  if (!jobs) return std::nullopt;
  Left left;
  left.read_bytes = int_or(value->get_object(), "read_bytes", 0);
  for (const json::value& job : **jobs) {
    if (!job.is_object()) return std::nullopt;
    const json::object& object = job.get_object();
    left.jobs.push_back({string_or(object, "name", ""), int_or(object, "done", 0),
                         int_or(object, "of", 0), string_or(object, "trouble", "")});
  }
  return left;
}

std::string words_of(const Left::Job& job) {
  if (job.of <= 0) return job.name;
  const std::int64_t done = std::clamp<std::int64_t>(job.done, 0, job.of);
  return fmt::format("{}, {} %", job.name, static_cast<int>(100.0 * done / job.of));
}

}  // namespace trainward::orders
