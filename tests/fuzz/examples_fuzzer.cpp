// Rows of JSON to examples: the input as a file that is one array, and as lines. Whatever it is, a
// row is refused with a reason or becomes tokens that decode to its text, with targets that the
// rows of a batch show again, padded and packed.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "require.hpp"
#include "trainer/data/examples/conversation.hpp"
#include "trainer/data/examples/example_encoder.hpp"
#include "trainer/data/examples/example_reader.hpp"
#include "trainer/data/json_rows.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::fuzz {
namespace {

using namespace trainward::trainer;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t block = 48;

class Taker {
 public:
  explicit Taker(const PromptFormat& format) : format_(format), encoder_(tokenizer_, rules()) {}

  void take(std::string_view text) {
    const auto value = parse_json(text, "");
    if (!value) return;
    auto conversation = conversation_of_row(*value, {});
    if (!conversation) {
      require(!conversation.error().what.empty(), "a refusal says why");
      return;
    }
    require(conversation->turns.empty() || conversation->turns.back().role == "assistant",
            "a conversation ends with an answer");
    require(conversation->turns.empty() != conversation->text.empty(), "turns or text");
    std::vector<PromptPiece> pieces{{conversation->text, true, true}};
    if (!conversation->turns.empty()) {
      auto rendered = format_.render(conversation->turns);
      if (!rendered) return;
      pieces = std::move(*rendered);
    }
    take(pieces);
  }

  void check_batches() const {
    if (set_.size() == 0) return;
    std::vector<std::uint32_t> all(set_.size());
    std::iota(all.begin(), all.end(), 0U);
    for (const bool packing : {false, true}) {
      const ExampleRows rows(set_, all, {block, packing, ByteTokenizer::end, 1});
      require(rows.targets() == set_.targets(), "rows have the targets of their examples");
      ExampleReader reader(rows, 3, 1);
      std::int64_t seen = 0;
      for (std::int64_t step = 0; step < reader.steps_per_epoch(); ++step) {
        const auto batch = reader.next();
        require(batch.has_value(), "a step can be had");
        seen += std::ranges::count_if(batch->weights, [](float weight) { return weight > 0; });
      }
      require(seen == set_.targets(), "an epoch has every target once");
    }
  }

 private:
  static EncoderRules rules() { return {{}, {ByteTokenizer::end}, false}; }

  void take(const std::vector<PromptPiece>& pieces) {
    auto encoded = encoder_.encode(pieces);
    if (!encoded) return;
    Example& example = encoded->example;
    require(example.ids.size() == example.targets.size(), "each token is a target or not");
    std::string whole;
    for (const PromptPiece& piece : pieces) whole += piece.text;
    const auto text = tokenizer_.decode(example.ids, {.special = false});
    require(text && whole.starts_with(*text), "tokens are those of the text");
    for (const TooLong rule : {TooLong::drop, TooLong::keep_end, TooLong::keep_start}) {
      Example shorter = example;
      const bool kept = cut(shorter, block, rule, 0);
      require(!kept || std::ssize(shorter.ids) <= block, "what is kept fits");
      if (rule == TooLong::keep_start && kept)
        require(set_.add(shorter).has_value(), "it is added");
    }
  }

  const PromptFormat& format_;
  ByteTokenizer tokenizer_;
  ExampleEncoder encoder_;
  ExampleSet set_;
};

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward::fuzz;     // NOLINT(google-build-using-namespace)
  using namespace trainward::trainer;  // NOLINT(google-build-using-namespace)
  std::string_view input = text_of(data, size);
  const auto format = built_in_format("chatml", {});
  Taker taker(**format);
  if (is_json_array(input)) {
    JsonRows rows(input);
    for (auto row = rows.next(); row && *row; row = rows.next()) taker.take((*row)->text);
  } else {
    for (;;) {
      const std::size_t end = input.find('\n');
      taker.take(input.substr(0, end));
      if (end == std::string_view::npos) break;
      input.remove_prefix(end + 1);
    }
  }
  taker.check_batches();
  return 0;
}
