#include "checkpoint/format/strict_json.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

namespace trainward::checkpoint {
namespace {

using boost::system::error_code;

// Builds a value from the parser's events. A value that ends in a part-by-part event (key, string,
// number) arrives as zero or more `_part` calls and one final call with the rest.
class Builder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  explicit Builder(std::size_t most_entries) : entries_left_(most_entries) { stack_.reset(); }

  json::value release() { return stack_.release(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }

  bool on_object_begin(error_code& error) {
    if (!counts(error)) return false;
    keys_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t size, error_code&) {
    keys_.pop_back();
    stack_.push_object(size);
    return true;
  }
  bool on_array_begin(error_code& error) { return counts(error); }
  bool on_array_end(std::size_t size, error_code&) {
    stack_.push_array(size);
    return true;
  }

  bool on_key_part(json::string_view part, std::size_t, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, error_code& error) {
    text_.append(part.data(), part.size());
    if (!counts(error)) return false;
    if (!keys_.back().insert(std::hash<std::string>()(text_)).second) {
      problem_ = fmt::format("has the key '{}' twice", text_);
      error = json::error::syntax;
      return false;
    }
    stack_.push_key(text_);
    text_.clear();
    return true;
  }

  bool on_string_part(json::string_view part, std::size_t, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t, error_code& error) {
    if (!counts(error)) return false;
    if (text_.empty()) {
      stack_.push_string(part);  // a long one is not copied once more
      return true;
    }
    text_.append(part.data(), part.size());
    stack_.push_string(text_);
    text_.clear();
    return true;
  }

  bool on_number_part(json::string_view part, error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t number, json::string_view part, error_code& error) {
    // "-0" is a fraction's zero: an integer would lose the sign.
    if (number == 0) return on_double(0, part, error);
    if (!counts(error)) return false;
    text_.clear();
    stack_.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, error_code& error) {
    if (!counts(error)) return false;
    text_.clear();
    stack_.push_uint64(number);
    return true;
  }
  // The library's own conversion may be off by a few units in the last place.
  bool on_double(double, json::string_view part, error_code& error) {
    if (!counts(error)) return false;
    text_.append(part.data(), part.size());
    if (text_ == "0") {
      stack_.push_int64(0);
      text_.clear();
      return true;
    }
    double exact = 0;
    const auto [end, status] = std::from_chars(text_.data(), text_.data() + text_.size(), exact);
    if (status != std::errc() || end != text_.data() + text_.size()) {
      problem_ = fmt::format("has the number '{}', which no double can hold", text_.substr(0, 40));
      error = json::error::syntax;
      return false;
    }
    stack_.push_double(exact);
    text_.clear();
    return true;
  }

  bool on_bool(bool value, error_code& error) {
    if (!counts(error)) return false;
    stack_.push_bool(value);
    return true;
  }
  bool on_null(error_code& error) {
    if (!counts(error)) return false;
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

 private:
  bool counts(error_code& error) {
    if (entries_left_-- > 0) return true;
    problem_ = "has too many keys and values";
    error = json::error::array_too_large;
    return false;
  }

  json::value_stack stack_;
  std::vector<std::unordered_set<std::size_t>> keys_;  // hashes; a set for every open object
  std::string text_;                                   // the key, string or number being assembled
  std::string problem_;
  std::size_t entries_left_;
};

}  // namespace

Result<json::value> parse_strict_json(std::string_view text, std::string_view where,
                                      std::size_t most_entries) {
  json::parse_options options;
  options.max_depth = max_json_depth;
  try {
    json::basic_parser<Builder> parser(options, most_entries);
    error_code error;
    const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
    if (error) {
      const std::string& problem = parser.handler().problem();
      return fail(ErrorKind::corrupt,
                  problem.empty()
                      ? fmt::format("is not valid JSON at byte {}: {}", used, error.message())
                      : fmt::format("{} near byte {}", problem, used),
                  std::string(where));
    }
    const std::size_t rest = text.find_first_not_of(" \t\r\n", used);
    if (rest != std::string_view::npos) {
      return fail(ErrorKind::corrupt,
                  fmt::format("has extra characters after the JSON at byte {}", rest),
                  std::string(where));
    }
    return parser.handler().release();
  } catch (const std::exception& exception) {
    return fail(ErrorKind::corrupt, fmt::format("is not readable as JSON: {}", exception.what()),
                std::string(where));
  }
}

json::value json_number(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

Result<double> number_from_json(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(json::string_view(key.data(), key.size()));
  if (found != nullptr && found->is_string()) {
    const std::string_view text = view(found->get_string());
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return get_number(object, key);
}

}  // namespace trainward::checkpoint
