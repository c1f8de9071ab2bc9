#include "checkpoint/huggingface/writing/model_card.hpp"

#include <algorithm>
#include <map>

#include "common/base/text.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

constexpr std::size_t most_points = 12;

// Inside a table a bar would begin the next cell, and "<" a tag.
std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : clean(text)) {
    if (c == '|' || c == '<' || c == '`' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string table(const ModelCardFacts::Rows& rows) {
  std::string text = "| | |\n|---|---|\n";
  for (const auto& [name, value] : rows) {
    text += fmt::format("| {} | {} |\n", cell(name), cell(value));
  }
  return text;
}

std::string section(std::string_view title, const ModelCardFacts::Rows& rows) {
  return rows.empty() ? "" : fmt::format("\n## {}\n\n{}", title, table(rows));
}

// First, last and what lies evenly between.
std::vector<ModelCardFacts::Point> thinned(const std::vector<ModelCardFacts::Point>& points) {
  if (points.size() <= most_points) return points;
  std::vector<ModelCardFacts::Point> some;
  for (std::size_t i = 0; i < most_points; ++i) {
    some.push_back(points[i * (points.size() - 1) / (most_points - 1)]);
  }
  return some;
}

std::string curve(const ModelCardFacts& facts) {
  if (facts.losses.empty() && facts.evaluations.empty()) return {};
  struct Pair {
    std::string loss;
    std::string held_out;
  };
  std::map<std::int64_t, Pair> rows;
  for (const auto& point : thinned(facts.losses)) rows[point.step].loss = number_text(point.loss);
  for (const auto& point : thinned(facts.evaluations)) {
    rows[point.step].held_out = number_text(point.loss);
  }
  std::string text = "\n## Loss\n\n| step | training | held out |\n|---:|---:|---:|\n";
  for (const auto& [step, pair] : rows) {
    text += fmt::format("| {} | {} | {} |\n", step, pair.loss, pair.held_out);
  }
  return text;
}

std::string lora_text(const LoraSettings& lora) {
  return fmt::format("LoRA, r {}, alpha {:g}{}, dropout {:g}, on {}", lora.r, lora.alpha,
                     lora.rank_stabilised ? ", rank-stabilised" : "", lora.dropout,
                     fmt::join(lora.target_modules, ", "));
}

std::string attempts_text(const ModelCardFacts& facts) {
  std::string text = fmt::to_string(facts.attempts);
  std::string sign = ": ";
  for (const auto& [cause, number] : facts.causes) {
    text += fmt::format("{}{} {}", sign, cause, number);
    sign = ", ";
  }
  return text;
}

ModelCardFacts::Rows summary(const CardSubject& subject, const ModelCardFacts& facts) {
  ModelCardFacts::Rows rows;
  rows.emplace_back("base model",
                    subject.base.empty() ? "none: trained from scratch" : subject.base);
  if (!subject.base_digest.empty()) rows.emplace_back("digest of its weights", subject.base_digest);
  rows.emplace_back("this folder holds", subject.kind);
  rows.emplace_back("trained", subject.lora == nullptr ? "all weights" : lora_text(*subject.lora));
  if (const TrainingState* state = subject.state; state != nullptr) {
    rows.emplace_back("steps", fmt::to_string(state->step));
    if (state->tokens > 0) rows.emplace_back("tokens", fmt::to_string(state->tokens));
    rows.emplace_back("loss", number_text(state->loss));
    if (!state->run.empty()) rows.emplace_back("run", state->run);
  }
  if (facts.attempts > 0) rows.emplace_back("attempts", attempts_text(facts));
  if (facts.training_seconds > 0) {
    rows.emplace_back("time in training",
                      human_duration(static_cast<std::int64_t>(facts.training_seconds * 1000)));
  }
  if (!subject.end_tokens.empty()) {
    rows.emplace_back("tokens that end an answer",
                      fmt::format("{}", fmt::join(subject.end_tokens, ", ")));
  }
  return rows;
}

ModelCardFacts::Rows data_of(const CardSubject& subject, const ModelCardFacts& facts) {
  ModelCardFacts::Rows rows = facts.data;
  if (subject.state == nullptr) return rows;
  const std::string digest = string_or(subject.state->extra, "corpus_digest", "");
  if (!digest.empty()) rows.emplace_back("digest", digest);
  return rows;
}

}  // namespace

std::string model_card(const CardSubject& subject, const ModelCardFacts& facts) {
  std::string text =
      fmt::format("---\nlibrary_name: {}\npipeline_tag: text-generation\n", subject.library);
  if (!subject.hub_name.empty()) text += fmt::format("base_model: {}\n", subject.hub_name);
  text += fmt::format("---\n\n# {}\n\n", cell(subject.title));
  text += "Trained with Trainward.\n\n" + table(summary(subject, facts));
  text += section("Data", data_of(subject, facts));
  text += section("Settings", facts.settings);
  return text + curve(facts);
}

}  // namespace trainward::checkpoint::huggingface
