#include <algorithm>
#include <array>

#include "common/base/strict_object.hpp"
#include "trainer/tokenizer/file/read_sequence.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {
namespace {

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
  return read_sequence(value, "normalizer", {"normalizers", "steps", 16},
                       [&](const json::value& step, const std::string& where) {
                         return read_step(step, where, file.normalizer);
                       });
}

}  // namespace trainward::trainer
