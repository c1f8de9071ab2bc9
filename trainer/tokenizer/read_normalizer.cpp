#include <algorithm>
#include <array>

#include "common/strict_object.hpp"
#include "trainer/tokenizer/tokenizer_file.hpp"

namespace trainward::trainer {
namespace {

constexpr std::size_t max_steps = 16;
constexpr std::array known{NormalizerStep::nfc, NormalizerStep::nfd, NormalizerStep::nfkc,
                           NormalizerStep::nfkd, NormalizerStep::lowercase};

Status read_step(const json::value& value, const std::string& where,
                 std::vector<NormalizerStep>& steps) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "is not an object", where);
  const std::string type = string_or(value.get_object(), "type", "?");
  const auto step = std::find_if(known.begin(), known.end(),
                                 [&](NormalizerStep each) { return name_of(each) == type; });
  if (step == known.end()) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not supported", type), where,
                "supported: NFC, NFD, NFKC, NFKD, Lowercase and a Sequence of these");
  }
  StrictObject keys(value.get_object(), where);
  keys.leave("type");
  if (auto ok = keys.finish(); !ok) return ok;
  steps.push_back(*step);
  return {};
}

}  // namespace

Status read_normalizer(const json::value& value, TokenizerFile& file) {
  const std::string where = "normalizer";
  if (!value.is_object() || string_or(value.get_object(), "type", "") != "Sequence") {
    return read_step(value, where, file.normalizer);
  }
  StrictObject keys(value.get_object(), where);
  keys.leave("type");
  keys.leave("normalizers");
  if (auto ok = keys.finish(); !ok) return ok;
  auto list = get_array(value.get_object(), "normalizers");
  if (!list) {
    list.error().where = where + ".normalizers";
    return propagate(list);
  }
  if ((*list)->size() > max_steps) {
    return fail(ErrorKind::usage, fmt::format("has more than {} steps", max_steps), where);
  }
  for (std::size_t i = 0; i < (*list)->size(); ++i) {
    const std::string at = fmt::format("{}.normalizers[{}]", where, i);
    if (auto ok = read_step((**list)[i], at, file.normalizer); !ok) return ok;
  }
  return {};
}

}  // namespace trainward::trainer
