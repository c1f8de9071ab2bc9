// What configurations from elsewhere say of trackers, in our words: `tracking`.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/yaml/scalar.hpp"
#include "supervisor/config/elsewhere/setting_entry.hpp"

namespace trainward::config::elsewhere {
namespace {

using yaml::Node;

constexpr std::string_view tensorboard = "tracking.tensorboard";
constexpr std::string_view usual_folder = "runs";  // as TensorBoard's own writers have it

// Who wants the curve, and where that was said.
struct Wanted {
  std::optional<Entry::Said> files;
  std::optional<Entry::Said> wandb;
};

std::vector<Node> words_in(const Node& node) {
  if (node.kind == Node::Kind::list) return node.items;
  return {node};
}

// "tensorboard", or a list of such words.
void read_words(Entry& entry, const Entry::Said& said, Wanted& wanted) {
  if (is_empty_or_false(said.member.value)) return;
  for (const Node& word : words_in(said.member.value)) {
    const bool scalar = word.kind == Node::Kind::scalar;
    if (scalar && (word.text == "none" || word.text == "jsonl")) continue;
    if (scalar && (word.text == "tensorboard" || word.text == "all")) {
      wanted.files = said;
    } else if (scalar && word.text == "wandb") {
      wanted.wandb = said;
    } else if (scalar && word.text == "mlflow") {
      if (entry.find("tracking.mlflow") != nullptr) continue;
      entry.report(said.where, word.mark,
                   "needs the server's address: logging_config: {mlflow: http://HOST:PORT}");
    } else {
      entry.report(said.where, word.mark,
                   fmt::format("expected one of none, tensorboard, wandb, mlflow, all; found {}. "
                               "Others take the run from TensorBoard's files: docs/tracking.md",
                               describe(word)));
    }
  }
}

// A flag.
bool read_flag(Entry& entry, const Entry::Said& said) {
  const Node& value = said.member.value;
  if (is_empty_or_false(value)) return false;
  const auto flag = value.kind == Node::Kind::scalar && !value.quoted
                        ? yaml::parse_boolean(value.text)
                        : std::nullopt;
  if (flag) return true;
  entry.report(said.where, value.mark, "expected true or false, found " + describe(value));
  return false;
}

// Where the files of this program will lie.
std::filesystem::path folder_of(const Entry& entry, const orders::Tracking& usual) {
  constexpr std::string_view programs = "programs.";
  const std::string name = entry.path().substr(std::min(programs.size(), entry.path().size()));
  const Node* said = entry.find(tensorboard);
  if (said == nullptr) return std::filesystem::path(usual.tensorboard) / name;
  Folders quiet = entry.folders();
  quiet.notes = nullptr;
  return quiet.resolve(*said) / name;
}

}  // namespace

void settle_trackers(Entry& entry, const orders::Tracking& usual) {
  Wanted wanted;
  for (const std::string_view key : {"report_to", "log_with"}) {
    if (const auto said = entry.said(key)) read_words(entry, *said, wanted);
  }
  if (auto said = entry.said("use_tensorboard"); said && read_flag(entry, *said)) {
    wanted.files = std::move(said);
  }
  if (auto said = entry.said("use_wandb"); said && read_flag(entry, *said)) {
    wanted.wandb = std::move(said);
  }
  if (auto said = entry.said("logging_dir"); said && !is_empty_or_false(said->member.value)) {
    if (entry.find(tensorboard) == nullptr) {
      entry.put(tensorboard, said->where, said->member.mark, std::move(said->member.value));
    } else {
      entry.note(said->where, said->member.mark, "is not read: tensorboard says where files go");
    }
  }
  const auto& by = wanted.files ? wanted.files : wanted.wandb;
  if (by && entry.find(tensorboard) == nullptr && usual.tensorboard.empty()) {
    entry.put(tensorboard, by->where, by->member.mark,
              plain(std::string(usual_folder), by->member.value));
  }
  if (!wanted.wandb) return;
  entry.note(wanted.wandb->where, wanted.wandb->member.mark,
             fmt::format("is answered with TensorBoard files: `wandb sync {}` brings the run to "
                         "W&B, now or later",
                         folder_of(entry, usual).string()));
}

}  // namespace trainward::config::elsewhere
