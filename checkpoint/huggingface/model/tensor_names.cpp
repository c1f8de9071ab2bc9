#include "checkpoint/huggingface/model/tensor_names.hpp"

#include <algorithm>

namespace trainward::checkpoint::huggingface {
namespace {

json::array texts(const std::vector<std::string>& from) {
  return json::array(from.begin(), from.end());
}

Result<std::vector<std::string>> texts_in(const json::object& object, std::string_view key) {
  constexpr std::size_t most = 64;
  auto array = get_array(object, key);
  if (!array) return propagate(array);
  std::vector<std::string> texts;
  for (const json::value& value : **array) {
    if (!value.is_string() || texts.size() == most) {
      return fail(ErrorKind::corrupt, fmt::format("'{}' is not a list of names", key));
    }
    texts.emplace_back(view(value.get_string()));
  }
  return texts;
}

}  // namespace

bool TensorNames::is_by_token(std::string_view name) const {
  return std::ranges::find(by_token, name) != by_token.end();
}

bool TensorNames::is_computed(std::string_view name) const {
  return std::ranges::any_of(computed,
                             [name](const std::string& end) { return name.ends_with(end); });
}

json::object to_json(const TensorNames& names) {
  return {{"prefix", names.prefix},
          {"by_token", texts(names.by_token)},
          {"computed", texts(names.computed)}};
}

Result<TensorNames> parse_tensor_names(const json::object& object) {
  TensorNames names;
  auto prefix = get_string(object, "prefix");
  if (!prefix) return propagate(prefix);
  names.prefix = std::move(*prefix);
  auto by_token = texts_in(object, "by_token");
  if (!by_token) return propagate(by_token);
  names.by_token = std::move(*by_token);
  auto computed = texts_in(object, "computed");
  if (!computed) return propagate(computed);
  names.computed = std::move(*computed);
  return names;
}

}  // namespace trainward::checkpoint::huggingface
