#include "common/base/json/json_events.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace trainward {
namespace {

namespace json = boost::json;
using boost::system::error_code;

constexpr std::size_t most_depth = 32;
constexpr std::size_t most_kept = 1024;  // of a text or key

// Called by the parser. A text, key or number comes as any number of `_part`s and the rest.
class Teller {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  explicit Teller(JsonListener& listener) : listener_(listener), levels_(most_depth + 1) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return begin(false); }
  bool on_object_end(std::size_t entries, error_code&) { return end(entries); }
  bool on_array_begin(error_code&) { return begin(true); }
  bool on_array_end(std::size_t entries, error_code&) { return end(entries); }

  bool on_key_part(json::string_view part, std::size_t, error_code&) { return keep(part); }
  bool on_key(json::string_view part, std::size_t, error_code&) {
    keep(part);
    levels_[depth_ - 1].key.swap(text_);
    text_.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, error_code&) { return keep(part); }
  bool on_string(json::string_view part, std::size_t, error_code&) {
    keep(part);
    tell(std::string_view(text_));
    text_.clear();
    return true;
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, error_code&) { return tell(number); }
  bool on_uint64(std::uint64_t number, json::string_view, error_code&) { return tell(number); }
  bool on_double(double number, json::string_view, error_code&) { return tell(number); }
  bool on_bool(bool value, error_code&) { return tell(value); }
  bool on_null(error_code&) { return tell(nullptr); }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

 private:
  [[nodiscard]] JsonWay way() const { return JsonWay(levels_).first(depth_); }

  bool keep(json::string_view part) {
    text_.append(part.data(), std::min(part.size(), most_kept - text_.size()));
    return true;
  }
  bool tell(const JsonScalar& value) {
    listener_.value(way(), value);
    return next();
  }
  bool begin(bool list) {
    listener_.begin(way(), list);
    JsonLevel& level = levels_[depth_++];
    level.list = list;
    level.key.clear();
    level.index = 0;
    return true;
  }
  bool end(std::size_t entries) {
    --depth_;
    listener_.end(way(), entries);
    return next();
  }
  bool next() {
    if (depth_ > 0) ++levels_[depth_ - 1].index;
    return true;
  }

  JsonListener& listener_;
  std::vector<JsonLevel> levels_;
  std::size_t depth_ = 0;
  std::string text_;
};

json::parse_options bounded() {
  json::parse_options options;
  options.max_depth = most_depth;
  return options;
}

}  // namespace

struct JsonEvents::Impl {
  Impl(JsonListener& listener, std::string from)
      : parser(bounded(), listener), where(std::move(from)) {}

  Status take(std::string_view text, bool more) {
    error_code error;
    std::size_t used = 0;
    try {
      if (!parser.done()) used = parser.write_some(more, text.data(), text.size(), error);
    } catch (const std::exception& exception) {
      return fail(ErrorKind::corrupt, fmt::format("is not readable as JSON: {}", exception.what()),
                  where);
    }
    read += used;
    if (error) {
      return fail(ErrorKind::corrupt,
                  fmt::format("is not valid JSON at byte {}: {}", read, error.message()), where);
    }
    if (text.find_first_not_of(" \t\r\n", used) == std::string_view::npos) return {};
    return fail(ErrorKind::corrupt, fmt::format("has extra characters at byte {}", read), where);
  }

  json::basic_parser<Teller> parser;
  std::string where;
  std::uint64_t read = 0;
};

JsonEvents::JsonEvents(JsonListener& listener, std::string where)
    : impl_(std::make_unique<Impl>(listener, std::move(where))) {}

JsonEvents::~JsonEvents() = default;

Status JsonEvents::write(std::string_view text) { return impl_->take(text, true); }

Status JsonEvents::finish() { return impl_->take({}, false); }

}  // namespace trainward
