#include "trainer/data/examples/read_examples.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "trainer/data/examples/row_reader.hpp"

namespace trainward::trainer {
namespace {

class Loading {
 public:
  explicit Loading(const ExampleOptions& options)
      : options_(options),
        encoder_(*options.tokenizer, options.rules),
        loaded_{ExampleSet(options.max_bytes), {}} {}

  Status take(const json::value& row) {
    auto conversation = conversation_of_row(row, options_.columns);
    if (!conversation) return propagate(conversation);
    const bool plain = conversation->turns.empty();
    auto pieces = pieces_of(*conversation);
    if (!pieces) return propagate(pieces);
    const auto what = plain ? ExampleEncoder::Of::text : ExampleEncoder::Of::turns;
    auto encoded = encoder_.encode(*pieces, what);
    if (!encoded) return propagate(encoded);
    if (encoded->example.target_count() == 0) {
      return fail(ErrorKind::corrupt, "its answer has no token");
    }
    lengths_.push_back(std::ssize(encoded->example.ids));
    return keep(*encoded, encoder_.beginning(what));
  }

  Result<LoadedExamples> finish(const RowReader& reader, const std::string& path) {
    LoadReport& report = loaded_.report;
    report.examples = loaded_.set.size();
    report.tokens = loaded_.set.tokens();
    report.targets = loaded_.set.targets();
    report.bad_rows = reader.bad_rows();
    report.first_bad_row = reader.first_bad_row();
    report.unread = reader.unread();
    std::ranges::sort(lengths_);
    report.median = percentile(50);
    report.ninety_percent = percentile(90);
    report.ninety_nine_percent = percentile(99);
    report.longest = percentile(100);
    if (report.examples > 0) return std::move(loaded_);
    std::string why;
    if (report.too_long > 0) {
      why += fmt::format(", {} longer than block_size {}", amount(report.too_long, "is", "are"),
                         options_.block);
    }
    if (report.without_target > 0) {
      why += fmt::format(
          ", {} within block_size {}",
          amount(report.without_target, "loses its whole answer", "lose their whole answer"),
          options_.block);
    }
    return fail(ErrorKind::usage,
                fmt::format("no example is left to train on: of {}{}; the median is {}",
                            std::ssize(lengths_), why, count(report.median, "token")),
                path, "make block_size larger, or cut them with too_long: keep_end");
  }

 private:
  static std::string amount(std::int64_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
  }

  Result<std::vector<PromptPiece>> pieces_of(Conversation& conversation) const {
    if (conversation.turns.empty()) {
      // Text that its owner may have put into a model's form already.
      return std::vector{PromptPiece{std::move(conversation.text), true, true}};
    }
    if (options_.rules.train_on_prompts &&
        !std::ranges::all_of(conversation.turns, &ChatTurn::trained)) {
      return fail(ErrorKind::corrupt,
                  "marks a turn as not to be trained on, and train_on_prompts trains on all of it");
    }
    auto pieces = options_.format->render(conversation.turns);
    // A form may refuse one conversation and take the next.
    if (!pieces) pieces.error().kind = ErrorKind::corrupt;
    return pieces;
  }

  Status keep(EncodedExample& encoded, std::int64_t beginning) {
    LoadReport& report = loaded_.report;
    Example& example = encoded.example;
    const bool longer = std::ssize(example.ids) > options_.block;
    if (!cut(example, options_.block, options_.too_long, beginning)) {
      ++report.too_long;
      return {};
    }
    const bool first_only = example.target_count() == example.targets.front();
    if (first_only) {
      ++report.without_target;
      return {};
    }
    report.cut += longer ? 1 : 0;
    report.special_in_text += encoded.special_in_text ? 1 : 0;
    if (options_.beginning) count_beginning(example.ids);
    return loaded_.set.add(example);
  }

  // At the front alone: some formats begin each round of a conversation with the same token.
  void count_beginning(std::span<const TokenId> ids) {
    const auto other =
        std::ranges::find_if_not(ids, [&](TokenId id) { return id == *options_.beginning; });
    const auto found = other - ids.begin();
    loaded_.report.without_beginning += found == 0 ? 1 : 0;
    loaded_.report.beginning_twice += found > 1 ? 1 : 0;
  }

  [[nodiscard]] std::int64_t percentile(std::int64_t percent) const {
    if (lengths_.empty()) return 0;
    const std::int64_t rank = (std::ssize(lengths_) * percent + 99) / 100;
    return lengths_[static_cast<std::size_t>(rank - 1)];
  }

  const ExampleOptions& options_;
  ExampleEncoder encoder_;
  LoadedExamples loaded_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace

Result<LoadedExamples> read_examples(std::span<const std::string> paths,
                                     const ExampleOptions& options) {
  if (auto ok = check_columns(options.columns); !ok) return propagate(ok);
  Loading loading(options);
  RowReader reader({[&](const json::value& row) { return loading.take(row); }, options.bad_row,
                    options.progress});
  if (auto ok = reader.read(paths); !ok) {
    if (ok.error().where.empty() && !paths.empty()) ok.error().where = paths.front();
    return propagate(ok);
  }
  return loading.finish(reader, paths.empty() ? "data" : paths.front());
}

std::optional<TooLong> too_long_rule(std::string_view name) {
  if (name == "keep_start") return TooLong::keep_start;
  if (name == "keep_end") return TooLong::keep_end;
  if (name == "drop") return TooLong::drop;
  return std::nullopt;
}

}  // namespace trainward::trainer
