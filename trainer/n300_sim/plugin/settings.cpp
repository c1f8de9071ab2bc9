#include "trainer/n300_sim/plugin/settings.hpp"

#include <cstdlib>
#include <string_view>

#include "common/base/number_in.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::n300 {
namespace {

std::string_view text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

template <typename Number>
Status read_number(const char* variable, Number& number) {
  const std::string_view text = text_of(variable);
  if (text.empty()) return {};
  const auto given = number_in<Number>(text);
  if (!given || !(*given >= 0)) {
    return fail(ErrorKind::usage, fmt::format("'{}' is not a number of at least 0", text),
                variable);
  }
  number = *given;
  return {};
}

}  // namespace

Result<Settings> read_settings() {
  Settings settings;
  auto card = read_card(text_of(env::simulate), text_of(env::plan));
  if (!card) return propagate(card);
  settings.card = *std::move(card);
  if (auto ok = read_number("TRAINWARD_ATTEMPT", settings.attempt); !ok) return propagate(ok);
  if (auto ok = read_number("TT_METAL_OPERATION_TIMEOUT_SECONDS", settings.operation_timeout_s);
      !ok) {
    return propagate(ok);
  }
  if (const std::string_view folder = text_of("TT_METAL_CACHE"); !folder.empty()) {
    settings.kernels = folder;
  }
  return settings;
}

}  // namespace trainward::n300
