// Files of rows to examples in memory, with an account of every row.
//
// In: the paths that `data` names (row_reader.hpp), and how a row becomes tokens. Out: the examples
// in the order of the files, and the report. Errors: usage, when nothing is left to train on, with
// what became of the rows, or there is more than max_bytes; those of the reader and of the ports.
// One thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "common/base/error.hpp"
#include "trainer/data/examples/conversation.hpp"
#include "trainer/data/examples/example_encoder.hpp"
#include "trainer/data/examples/example_set.hpp"
#include "trainer/data/examples/load_report.hpp"
#include "trainer/data/quarantine.hpp"

namespace trainward::trainer {

struct ExampleOptions {
  Tokenizer* tokenizer = nullptr;        // borrowed while the examples are read
  const PromptFormat* format = nullptr;  // the same
  EncoderRules rules;
  // The token at the front of every example, whichever step adds it; empty: this model has no such
  // token.
  std::optional<TokenId> beginning;
  std::int64_t block = 0;
  TooLong too_long = TooLong::keep_start;
  Columns columns;
  std::uint64_t max_bytes = default_max_example_bytes;
  std::function<Status(const BadLine&)> bad_row;  // may be empty
  // Bytes read and to read; an error ends the reading. May be empty.
  std::function<Status(std::uint64_t done, std::uint64_t total)> progress;
};

struct LoadedExamples {
  ExampleSet set;
  LoadReport report;
};

Result<LoadedExamples> read_examples(std::span<const std::string> paths,
                                     const ExampleOptions& options);

// "keep_start", "keep_end", "drop"
std::optional<TooLong> too_long_rule(std::string_view name);

}  // namespace trainward::trainer
