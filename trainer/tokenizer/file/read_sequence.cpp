#include "trainer/tokenizer/file/read_sequence.hpp"

#include "common/base/json/strict_object.hpp"

namespace trainward::trainer {

const json::value* member(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(json::string_view(key.data(), key.size()));
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string type_of(const json::value& value) {
  return value.is_object() ? string_or(value.get_object(), "type", "?") : "?";
}

Status read_sequence(const json::value& value, const std::string& where, const SequenceForm& form,
                     const ReadStep& read_step) {
  if (type_of(value) != "Sequence") return read_step(value, where);
  StrictObject keys(value.get_object(), where);
  keys.leave("type");
  keys.leave(form.list);
  if (auto ok = keys.finish(); !ok) return ok;
  const std::string path = fmt::format("{}.{}", where, form.list);
  auto list = get_array(value.get_object(), form.list);
  if (!list) {
    list.error().where = path;
    return propagate(list);
  }
  if ((*list)->size() > form.most) {
    return fail(ErrorKind::usage, fmt::format("has more than {} {}", form.most, form.steps), where);
  }
  for (std::size_t i = 0; i < (*list)->size(); ++i) {
    if (auto ok = read_step((**list)[i], fmt::format("{}[{}]", path, i)); !ok) return ok;
  }
  return {};
}

}  // namespace trainward::trainer
