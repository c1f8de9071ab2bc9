// README.md of a folder that is written: what the model came from and how it was trained.
//
// In: what the checkpoint says, and what the caller knows of the run. Out: Markdown with the head
// that the hub reads. What is not known is left out; long curves are thinned. Text from elsewhere
// is made safe for a line of a table. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/format/state_file.hpp"
#include "checkpoint/huggingface/model/model_record.hpp"

namespace trainward::checkpoint::huggingface {

// Of the run: everything may be empty.
struct ModelCardFacts {
  struct Point {
    std::int64_t step = 0;
    double loss = 0;
  };
  using Rows = std::vector<std::pair<std::string, std::string>>;  // name, value

  std::int64_t attempts = 0;
  std::vector<std::pair<std::string, std::int64_t>> causes;  // how they ended, how many of them
  double training_seconds = 0;
  std::vector<Point> losses;       // by step
  std::vector<Point> evaluations;  // of held-out data, by step
  Rows data;
  Rows settings;
};

struct CardSubject {
  std::string title;
  std::string kind;                      // "the whole model", "a LoRA adapter", …
  const TrainingState* state = nullptr;  // null: nothing is known but the adapter
  std::string base;                      // folder or name; empty: from scratch
  std::string base_digest;               // empty: not known
  const LoraSettings* lora = nullptr;    // null: every weight was trained
  std::vector<std::int64_t> end_tokens = {};
  std::string library = "transformers";  // that opens it
  std::string hub_name = {};             // of the base, where it is known
};

std::string model_card(const CardSubject& subject, const ModelCardFacts& facts);

}  // namespace trainward::checkpoint::huggingface
