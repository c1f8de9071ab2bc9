#include "common/base/json/strict_object.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace trainward {
namespace {

std::string path_of(const std::string& where, std::string_view key) {
  return where.empty() ? std::string(key) : fmt::format("{}.{}", where, key);
}

}  // namespace

bool StrictObject::has(std::string_view key) const {
  return object_->if_contains(json::string_view(key.data(), key.size())) != nullptr;
}

const json::value* StrictObject::look_up(std::string_view key) {
  known_.push_back(key);
  return object_->if_contains(json::string_view(key.data(), key.size()));
}

void StrictObject::complain(std::string_view key, std::string what, std::string hint) {
  if (!first_) {
    first_ = Error{ErrorKind::usage, std::move(what), path_of(where_, key), std::move(hint)};
  }
}

void StrictObject::expected(std::string_view key, std::string_view type, const json::value& found) {
  complain(key, fmt::format("is {}, expected {}", json::serialize(found), type));
}

void StrictObject::whole(std::string_view key, std::int64_t& target, IntegerRange range) {
  const json::value* found = look_up(key);
  if (found == nullptr) return;
  // The parser makes an int64 of everything that fits one.
  if (!found->is_int64() || !range.contains(found->get_int64())) {
    return expected(key, range.text(), *found);
  }
  target = found->get_int64();
}

void StrictObject::flag(std::string_view key, bool& target) {
  const json::value* found = look_up(key);
  if (found == nullptr) return;
  if (!found->is_bool()) return expected(key, "true or false", *found);
  target = found->get_bool();
}

void StrictObject::bytes(std::string_view key, std::uint64_t& target) {
  auto number = static_cast<std::int64_t>(target);
  whole(key, number, {});
  target = static_cast<std::uint64_t>(number);
}

void StrictObject::real(std::string_view key, double& target, NumberRange range) {
  const json::value* found = look_up(key);
  if (found == nullptr) return;
  if (!found->is_number() || !range.contains(found->to_number<double>())) {
    return expected(key, range.text(), *found);
  }
  target = found->to_number<double>();
}

void StrictObject::text(std::string_view key, std::string& target) {
  const json::value* found = look_up(key);
  if (found == nullptr) return;
  if (!found->is_string()) return expected(key, "text", *found);
  target = view(found->get_string());
}

void StrictObject::one_of(std::string_view key, std::string& target,
                          std::span<const std::string_view> words) {
  std::string word = target;
  text(key, word);
  if (std::find(words.begin(), words.end(), word) != words.end()) {
    target = std::move(word);
    return;
  }
  const std::string close = nearest(word, words);
  complain(key,
           fmt::format("is '{}', expected '{}' or '{}'", word,
                       fmt::join(words.first(words.size() - 1), "', '"), words.back()),
           close.empty() ? "" : fmt::format("did you mean '{}'?", close));
}

void StrictObject::texts(std::string_view key, std::vector<std::string>& target) {
  const json::value* found = look_up(key);
  if (found == nullptr) return;
  if (!found->is_array()) return expected(key, "a list of text", *found);
  std::vector<std::string> list;
  for (const json::value& item : found->get_array()) {
    if (!item.is_string()) return expected(key, "a list of text", *found);
    list.emplace_back(view(item.get_string()));
  }
  target = std::move(list);
}

void StrictObject::wholes(std::string_view key, std::vector<std::int64_t>& target,
                          IntegerRange range) {
  const json::value* found = look_up(key);
  if (found == nullptr) return;
  const std::string type = fmt::format("a list, each {}", range.text());
  if (!found->is_array()) return expected(key, type, *found);
  std::vector<std::int64_t> list;
  for (const json::value& item : found->get_array()) {
    if (!item.is_int64() || !range.contains(item.get_int64())) {
      return expected(key, type, *found);
    }
    list.push_back(item.get_int64());
  }
  target = std::move(list);
}

const json::object* StrictObject::object(std::string_view key) {
  const json::value* found = look_up(key);
  if (found == nullptr || found->is_null()) return nullptr;
  if (found->is_object()) return &found->get_object();
  expected(key, "an object", *found);
  return nullptr;
}

Status StrictObject::finish() const {
  for (const auto& member : *object_) {
    const std::string_view key = view(member.key());
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string close = nearest(key, known_);
    return fail(ErrorKind::usage, "is not a key known here", path_of(where_, key),
                close.empty() ? fmt::format("known: {}", fmt::join(known_, ", "))
                              : fmt::format("did you mean '{}'?", close));
  }
  if (first_) return tl::unexpected<Error>(*first_);
  return {};
}

}  // namespace trainward
