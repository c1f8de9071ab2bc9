#include "trainer/model/huggingface/config_reader.hpp"

#include <cmath>

namespace trainward::trainer {
namespace {

// Sizes beyond it could not be added up without care.
constexpr double largest = 2147483647.0;

}  // namespace

const json::value* ConfigReader::find(std::string_view key) const {
  const json::value* value = object_.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void ConfigReader::note(std::string_view key, std::string_view wanted) const {
  if (!error_) error_ = refuse(key, fmt::format("is not {}", wanted), "").value();
}

std::int64_t ConfigReader::whole(std::string_view key, std::int64_t fallback) const {
  const json::value* value = find(key);
  if (value == nullptr) return fallback;
  const double number = value->is_number() ? value->to_number<double>() : -1;
  if (number >= 0 && number <= largest && number == std::floor(number)) {
    return static_cast<std::int64_t>(number);
  }
  note(key, "a whole number");
  return fallback;
}

double ConfigReader::number(std::string_view key, double fallback) const {
  const json::value* value = find(key);
  if (value == nullptr) return fallback;
  const double number = value->is_number() ? value->to_number<double>() : HUGE_VAL;
  if (std::isfinite(number)) return number;
  note(key, "a number");
  return fallback;
}

bool ConfigReader::flag(std::string_view key, bool fallback) const {
  const json::value* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->get_bool();
  note(key, "true or false");
  return fallback;
}

std::string ConfigReader::text(std::string_view key, std::string fallback) const {
  const json::value* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return std::string(view(value->get_string()));
  note(key, "text");
  return fallback;
}

const json::object* ConfigReader::object(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return nullptr;
  if (value->is_object()) return &value->get_object();
  note(key, "an object");
  return nullptr;
}

tl::unexpected<Error> ConfigReader::refuse(std::string_view key, std::string_view what,
                                           std::string cure) const {
  return fail(ErrorKind::usage, fmt::format("{} {}", key, what), where_, std::move(cure));
}

Status ConfigReader::finish() const {
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

Status ConfigReader::check_sizes(const ModelSpec& model, std::span<const SizeLimit> limits) const {
  for (const SizeLimit& limit : limits) {
    const std::int64_t size = model.*limit.size;
    if (size < 1) return refuse(limit.key, "is not a whole number above 0", "");
    if (size > limit.most) return refuse(limit.key, fmt::format("is above {}", limit.most), "");
  }
  return {};
}

}  // namespace trainward::trainer
