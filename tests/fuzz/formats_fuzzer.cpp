// Output of training programs: whatever is read, steps increase, are in range, and do not depend on
// how the bytes were cut. The first byte names the format, or none.
#include <cmath>

#include "common/base/line_splitter.hpp"
#include "common/protocol/protocol.hpp"
#include "require.hpp"
#include "supervisor/evidence/foreign/formats/recognizer.hpp"

namespace {

using namespace trainward;

std::vector<std::int64_t> steps_of(const foreign::Format* only, std::string_view text,
                                   std::size_t piece) {
  foreign::Recognizer recognizer(only);
  foreign::Events events;
  LineSplitter lines(64 * 1024);
  const auto take = [&](std::string_view line, std::int64_t) { recognizer.take(line, events); };
  while (!text.empty()) {
    lines.feed(text.substr(0, piece), take);
    text.remove_prefix(std::min(piece, text.size()));
  }
  lines.finish(take);
  recognizer.end(events);
  std::vector<std::int64_t> steps;
  for (const core::Event& event : events) {
    if (const auto* step = std::get_if<core::StepDone>(&event)) {
      fuzz::require(step->step.number > (steps.empty() ? 0 : steps.back()), "steps increase");
      fuzz::require(step->step.number <= max_step, "steps are in range");
      fuzz::require(std::isfinite(step->figures.grad_norm.value_or(0)) &&
                        std::isfinite(step->figures.tokens_per_second.value_or(0)),
                    "rates are numbers, or not told");
      fuzz::require(step->figures.tokens.value_or(0) >= 0, "tokens are not negative");
      steps.push_back(step->step.number);
    }
  }
  return steps;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto formats = foreign::formats();
  const foreign::Format* only = data[0] < formats.size() ? &formats[data[0]] : nullptr;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  fuzz::require(steps_of(only, text, size) == steps_of(only, text, 7), "pieces do not matter");
  return 0;
}
