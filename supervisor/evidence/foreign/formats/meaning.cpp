#include "supervisor/evidence/foreign/formats/meaning.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "supervisor/evidence/foreign/formats/letters.hpp"

namespace trainward::foreign {
namespace {

using Words = std::initializer_list<std::string_view>;

bool one_of(std::string_view word, Words words) {
  return std::any_of(words.begin(), words.end(),
                     [word](std::string_view other) { return same_word(word, other); });
}

// The last words of a key, the last one first.
class Key {
 public:
  explicit Key(std::string_view text) {
    while (count_ < words_.size()) {
      while (!text.empty() && !is_alnum(text.back())) text.remove_suffix(1);
      std::size_t length = 0;
      while (length < text.size() && is_alnum(text[text.size() - 1 - length])) ++length;
      if (length == 0) return;
      const std::string_view word = text.substr(text.size() - length);
      text.remove_suffix(length);
      // "loss: tensor(2.31, device='cuda:0')"
      const bool wrapper = one_of(word, {"tensor", "array", "float", "float32", "float64", "np"});
      if (count_ > 0 || !wrapper) words_.at(count_++) = word;
      const char before = text.empty() ? ' ' : text.back();
      if (count_ == 1) joined_ = before == '_' || before == '/' || before == '.';
    }
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::string_view last(std::size_t back = 0) const {
    return back < count_ ? words_.at(back) : std::string_view{};
  }
  [[nodiscard]] bool has(Words words) const {
    return std::any_of(words_.begin(), words_.begin() + count_,
                       [&](std::string_view word) { return one_of(word, words); });
  }
  // The last word is one with the word before it: "loss_step", not "loss (step".
  [[nodiscard]] bool joined() const { return joined_; }
  // Every word is one of these.
  [[nodiscard]] bool only(Words words) const {
    return std::all_of(words_.begin(), words_.begin() + count_,
                       [&](std::string_view word) { return one_of(word, words); });
  }

 private:
  std::array<std::string_view, 4> words_;
  std::size_t count_ = 0;
  bool joined_ = false;
};

// Numbers that are set, or that are about other steps than the one that was done.
bool is_of_something_else(const Key& key) {
  return key.has({"max",        "total",    "number",    "warmup", "save",      "saving",
                  "saved",      "log",      "logging",   "per",    "every",     "accumulation",
                  "decay",      "from",     "skipped",   "best",   "for",       "size",
                  "checkpoint", "resume",   "resuming",  "time",   "remaining", "to",
                  "until",      "sampling", "diffusion", "inner"});
}

Understood understand_loss(const Key& key) {
  Understood understood;
  if (key.has({"best", "min", "minimum", "lowest", "weight", "previous", "prev", "target",
               "initial", "scale", "delta", "previously", "improved", "from"})) {
    return understood;
  }
  understood.held_out =
      key.has({"val", "valid", "validation", "eval", "evaluation", "test", "dev"});
  understood.meaning = understood.held_out ? Meaning::held_out : Meaning::loss;
  if (same_word(key.last(), "loss") && key.last(1).empty()) {
    understood.rank = 4;
  } else if (key.only({"loss", "train", "training", "lm", "step", "batch"})) {
    understood.rank = 3;
  } else if (key.has({"total", "mean", "avg", "average", "running", "train", "training"})) {
    understood.rank = 2;
  } else {
    understood.rank = 1;
  }
  return understood;
}

bool is_loss(const Key& key) {
  if (same_word(key.last(), "loss")) return true;
  if (one_of(key.last(), {"step", "batch"}) && !key.joined()) return false;
  return same_word(key.last(1), "loss") &&
         one_of(key.last(), {"train", "training", "step", "total", "avg", "mean", "ce", "batch",
                             "val", "valid", "validation", "eval", "test", "value"});
}

bool is_rate_of_tokens(const Key& key, std::string_view unit) {
  if (one_of(unit, {"tok/s", "toks/s", "tokens/s", "tokens/sec", "tokens/second"})) return true;
  if (one_of(key.last(), {"tps", "tgs", "throughput"})) return true;
  return key.has({"tok", "tokens", "token"}) && key.has({"s", "sec", "second"});
}

Understood of(Meaning meaning) {
  Understood understood;
  understood.meaning = meaning;
  return understood;
}

// The words that end the key are the figure's name: "input_wait_ms", "train/input wait ms".
bool is_name(const Key& key, std::string_view name) {
  for (std::size_t back = 0; !name.empty(); ++back) {
    const auto cut = name.rfind('_');
    if (!same_word(key.last(back), name.substr(cut + 1))) return false;
    name = cut == std::string_view::npos ? std::string_view() : name.substr(0, cut);
  }
  return true;
}

}  // namespace

Understood understand(std::string_view text, std::string_view unit) {
  const Key key(text);
  if (is_rate_of_tokens(key, unit)) return of(Meaning::tokens_per_second);
  Understood understood;
  understood.no_words = key.empty();
  if (key.empty()) return understood;
  for (const StepFigure& figure : step_figures) {
    if (!figure.by_name || !is_name(key, figure.name)) continue;
    understood.meaning = Meaning::named;
    understood.figure = &figure;
    return understood;
  }
  if (is_loss(key)) return understand_loss(key);
  const std::string_view last = key.last();
  if (same_word(last, "lr")) return of(Meaning::learning_rate);
  if (same_word(last, "rate") && same_word(key.last(1), "learning")) {
    return of(Meaning::learning_rate);
  }
  if (same_word(last, "mfu") && unit == "%") return of(Meaning::mfu);
  if (key.only({"memory"}) && unit == "GiB") return of(Meaning::device_memory);
  if (same_word(last, "gnorm")) return of(Meaning::grad_norm);
  if (same_word(last, "norm") &&
      (key.last(1).empty() || one_of(key.last(1), {"grad", "gradient", "total"}))) {
    return of(Meaning::grad_norm);
  }
  if (one_of(last, {"tokens", "tok", "toks"})) return of(Meaning::tokens);
  const bool step = one_of(last, {"step", "steps", "iter", "iters", "iteration", "iterations", "it",
                                  "itr", "update", "updates"});
  const bool batch = one_of(last, {"batch", "batches", "minibatch"});
  const bool trains = one_of(last, {"train", "training"});
  const bool epoch = one_of(last, {"epoch", "epochs"}) ||
                     (trains && (key.last(1).empty() || same_word(key.last(1), "epoch")));
  if ((!step && !batch && !epoch) || is_of_something_else(key)) return understood;
  // fairseq counts with num_updates; any other number of something is its size.
  if (key.has({"num"}) && !same_word(last, "updates")) return understood;
  understood.meaning = step ? Meaning::step : batch ? Meaning::batch : Meaning::epoch;
  understood.rank = same_word(last, "step") ? 2 : 1;
  if (same_word(last, "step") && same_word(key.last(1), "global")) understood.rank = 3;
  understood.held_out = key.has({"val", "valid", "validation", "validate", "eval", "evaluation",
                                 "evaluating", "test", "testing", "dev", "sanity"});
  understood.names_loss = key.has({"loss"});
  return understood;
}

}  // namespace trainward::foreign
