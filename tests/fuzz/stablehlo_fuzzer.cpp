// StableHLO text: what is read prints, reads again and prints as it did; and it can be lowered to
// tiles, once.
#include "require.hpp"
#include "trainer/stablehlo/lower.hpp"
#include "trainer/stablehlo/text/parse_text.hpp"
#include "trainer/stablehlo/text/print.hpp"
#include "trainer/stablehlo/tiles.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  const auto module = stablehlo::parse(fuzz::text_of(data, size), "input");
  if (!module) {
    fuzz::require(module.error().what.starts_with("line "), "a refusal names the line");
    return 0;
  }
  const auto text = stablehlo::print(*module);
  fuzz::require(text.has_value(), "what was read can be printed");
  auto again = stablehlo::parse(*text, "printed");
  fuzz::require(again.has_value(), "what was printed can be read");
  fuzz::require(stablehlo::print(*again) == *text, "and prints as it did");

  auto lowered = stablehlo::lower(module->graph);
  if (!lowered) return 0;  // padded, it would be too large
  fuzz::require(stablehlo::check_tiles(*lowered).has_value(), "what is lowered fills tiles");
  const auto twice = stablehlo::lower(*lowered);
  fuzz::require(twice.has_value(), "what is lowered can be lowered");
  again->reuses.clear();  // a scalar's type is not that of what stands for it
  again->graph = *std::move(lowered);
  const auto once_text = stablehlo::print(*again);
  fuzz::require(once_text.has_value(), "what is lowered can be printed");
  again->graph = *twice;
  fuzz::require(stablehlo::print(*again) == *once_text, "and lowering leaves it alone");
  return 0;
}
