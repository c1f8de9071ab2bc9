#include "supervisor/evidence/foreign/formats/formats.hpp"

#include <algorithm>

#include "common/base/escape_sequence.hpp"
#include "common/base/text.hpp"
#include "supervisor/evidence/foreign/formats/letters.hpp"
#include "supervisor/evidence/foreign/formats/readers.hpp"

namespace trainward::foreign {
namespace {

constexpr std::size_t looked_at = 4096;

constexpr std::array<Format, 14> table{{
    {"huggingface", "the output of Hugging Face Trainer", {"{'", "'"}, readers::huggingface},
    {"lightning", "the output of Lightning", {"v_num=", "["}, readers::lightning},
    {"torchtune",
     "the output of torchtune",
     {"oss:", "|"},
     readers::torchtune,
     2,
     R"(^\d+\|(?P<step>\d+)\|Loss: (?P<loss>[0-9.eE+-]+|nan|inf): )"},
    {"nanogpt",
     "the output of nanoGPT",
     {"loss ", ": "},
     readers::nanogpt,
     2,
     R"(^iter (?P<step>\d+): loss (?P<loss>[0-9.eE+-]+|nan|inf))"},
    {"megatron",
     "the output of Megatron-LM",
     {"iteration", "|", "loss"},
     readers::megatron,
     2,
     R"(iteration +(?P<step>\d+)/.*lm loss: (?P<loss>[0-9.eE+-]+|nan|inf))"},
    {"torchtitan", "the output of torchtitan", {"step:", "loss:"}, readers::torchtitan},
    {"deepspeed",
     "the output of DeepSpeed",
     {"step"},
     readers::deepspeed,
     2,
     R"(\bstep=(?P<step>\d+), skipped=)"},
    {"clu",
     "the output of CLU's metric writers",
     {"] [", "loss"},
     readers::clu,
     2,
     R"(\.py:\d+\] \[(?P<step>\d+)\] .*\bloss=(?P<loss>[0-9.eE+-]+|nan|inf))"},
    {"tt-blacksmith",
     "the output of tt-blacksmith",
     {"| Step ", "/loss: "},
     readers::with_step,
     2,
     R"(\| Step (?P<step>\d+) \| train/loss: (?P<loss>[0-9.eE+-]+|nan|inf))"},
    {"tt-train",
     "the output of tt-train",
     {"Step: ", ", Loss: "},
     readers::with_step,
     2,
     R"(^(?:\[Rank \d+\] )?Step: (?P<step>\d+), Loss: (?P<loss>[0-9.eE+-]+|nan|inf))"},
    {"keras", "the output of Keras", {"/"}, readers::keras},
    {"tqdm", "a progress bar with a loss", {" ["}, readers::tqdm},
    {"plain",
     "lines with a step and a loss",
     {},
     readers::plain,
     3,
     R"((?i)\b(?:step|iter|iteration)\b\D{0,4}(?P<step>\d[\d,]*)\b.*\bloss\b\D{0,4}(?P<loss>[0-9.eE+-]+|nan|inf))"},
    {"epochs", "lines with an epoch and a loss", {"poch"}, readers::epochs, 3},
}};

// Whose output is another's.
struct Alias {
  std::string_view name;
  std::string_view format;
};
constexpr std::array<Alias, 5> aliases{{{"trl", "huggingface"},
                                        {"axolotl", "huggingface"},
                                        {"llama-factory", "huggingface"},
                                        {"accelerate", "tqdm"},
                                        {"diffusers", "tqdm"}}};

// Most lines of a log are about something else, and cost no more than this.
bool may_matter(std::string_view line) {
  return contains(line, "oss") || contains(line, "it/s") || contains(line, "s/it") ||
         contains(line, "lr=[") || contains(line, "LOSS") || line.starts_with("Epoch ") ||
         contains(line, "s/step");
}

bool is_obeyed(char c) { return c == '\x1b' || c == '\b'; }

// Without what colours text or moves the cursor, backspaces among it.
std::string without_escapes(std::string_view line) {
  std::string out = without_escape_sequences(line);
  std::erase(out, '\b');
  return out;
}

std::optional<Reading> read_as(const Format& format, std::string_view line) {
  for (const std::string_view mark : format.marks) {
    if (!mark.empty() && !contains(line, mark)) return std::nullopt;
  }
  return format.read(line);
}

std::optional<Read> read_clean(std::string_view line, const Format* only) {
  line = trim(line);
  if (only != nullptr) {
    const Format& bars = *find_format("tqdm");
    if (auto reading = read_as(*only, line)) {
      // Of a program that is known to tell its steps by a bar, the one without a name is that bar.
      const bool unnamed = only == &bars && !reading->labelled && reading->step;
      if (unnamed && reading->kind == Reading::Kind::bar) reading->kind = Reading::Kind::step;
      return Read{only, *reading};
    }
    // A bar may be the other half of what `only` prints; its steps are not.
    auto bar = read_as(bars, line);
    if (!bar) return std::nullopt;
    bar->kind = Reading::Kind::bar;
    return Read{&bars, *bar};
  }
  for (const Format& format : table) {
    if (auto reading = read_as(format, line)) return Read{&format, *reading};
  }
  return std::nullopt;
}

}  // namespace

std::span<const Format> formats() { return table; }

const Format* find_format(std::string_view name) {
  for (const Alias& alias : aliases) {
    if (alias.name == name) name = alias.format;
  }
  for (const Format& format : table) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  names.reserve(table.size() + aliases.size());
  for (const Format& format : table) names.push_back(format.name);
  for (const Alias& alias : aliases) names.push_back(alias.name);
  return names;
}

std::optional<Read> read_line(std::string_view line, const Format* only) {
  line = line.substr(0, looked_at);
  if (!may_matter(line)) return std::nullopt;
  if (std::find_if(line.begin(), line.end(), is_obeyed) == line.end()) {
    return read_clean(line, only);
  }
  const std::string plain = without_escapes(line);
  return read_clean(plain, only);
}

}  // namespace trainward::foreign
