// No word is taken for a fault it is not: every line of innocent/*.txt, each for itself, and lines
// made from innocent/templates.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "matcher_fixture.hpp"

namespace trainward::rules {
namespace {

const std::filesystem::path folder =
    std::filesystem::path(SOURCE_FOLDER) / "tests/unit/supervisor/evidence/rules/innocent";

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream text(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Files by name, without the templates.
std::map<std::string, std::vector<std::string>> written_lines() {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name != "templates.txt") files[name] = lines_of(entry.path());
  }
  return files;
}

class Templates {
 public:
  explicit Templates(unsigned seed) : random_(seed) {
    for (const std::string& line : lines_of(folder / "templates.txt")) {
      if (line.starts_with('@')) {
        add_words(line);
      } else if (!line.starts_with('#')) {
        templates_.push_back(line);
      }
    }
  }
  const std::vector<std::string>& templates() const { return templates_; }
  std::string fill(std::string line) {
    for (std::size_t from = 0; (from = line.find('{', from)) != std::string::npos;) {
      const std::size_t end = line.find('}', from);
      const auto words = words_.find(line.substr(from + 1, end - from - 1));
      const bool number = line.compare(from, 3, "{n}") == 0;
      if (words == words_.end() && !number) {
        ++from;  // a brace of the line itself
      } else {
        line.replace(from, end - from + 1, number ? std::to_string(pick(100'000)) : one_of(*words));
      }
    }
    return line;
  }

 private:
  using Words = std::map<std::string, std::vector<std::string>>;
  void add_words(const std::string& line) {
    const std::size_t blank = line.find(' ');
    std::vector<std::string>& words = words_[line.substr(1, blank - 1)];
    for (std::size_t from = blank; from != std::string::npos;) {
      const std::size_t end = line.find('|', from + 1);
      words.push_back(line.substr(from + 1, end - from - 1));
      from = end;
    }
  }
  std::size_t pick(std::size_t below) { return random_() % below; }
  std::string one_of(const Words::value_type& words) {
    return words.second[pick(words.second.size())];
  }

  std::mt19937 random_;
  Words words_;
  std::vector<std::string> templates_;
};

class Innocent : public BuiltinMatcher {
 protected:
  // The rule that takes the line for a fault; empty when there is none.
  static std::string accuser(const std::string& line) {
    for (const Finding& finding : classify(line).findings) {
      if (finding.strength != Strength::hint) return finding.rule;
    }
    return {};
  }
};

TEST_F(Innocent, NoWrittenLineIsTakenForAFault) {
  std::set<std::string> all;
  for (const auto& [name, lines] : written_lines()) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      all.insert(lines[i]);
      EXPECT_EQ(accuser(lines[i]), "") << name << ":" << i + 1 << ": " << lines[i];
    }
  }
  EXPECT_GE(all.size(), 3000U);
}

TEST_F(Innocent, NoLineMadeFromATemplateIsTakenForAFault) {
  constexpr unsigned seed = 20'260'302;
  constexpr int of_each = 60;
  Templates templates(seed);
  std::set<std::string> all;
  for (const std::string& line : templates.templates()) {
    for (int i = 0; i < of_each; ++i) all.insert(templates.fill(line));
  }
  for (const std::string& line : all)
    EXPECT_EQ(accuser(line), "") << "seed " << seed << ": " << line;
  std::cout << all.size() << " lines made from " << templates.templates().size() << " templates\n";
  EXPECT_GE(all.size(), 3000U);
}

// The same words where they do mean a fault: beside a count of zero, a setting, a number that is a
// name's.
TEST_F(Innocent, TheirNeighboursThatAreFaultsAreFound) {
  const std::pair<const char*, const char*> faults[] = {
      {"loss nan", "nan"},
      {"loss: nan", "nan"},
      {"Loss is NaN", "nan"},
      {"{'loss': nan, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.1}", "nan"},
      {R"({"loss": NaN, "is_best": false, "nan_check": true})", "nan"},
      {"nan loss", "nan"},
      {"Nan loss detected at step 12", "nan"},
      {"grad_norm: inf", "nan"},
      {"NaN/Inf in gradients", "nan"},
      {"nano_3x: loss became NaN at step 120", "nan"},
      {"the loss went to nan after 300 steps", "nan"},
      {"Found nan in tensor", "nan"},
      {"step 12 loss: nan | errors: 0", "nan"},
      {"step 12, loss nan, 0 errors", "nan"},
      {" iteration 12/ 100 | lm loss: NAN | number of skipped iterations:   0 | number of nan "
       "iterations:   0 |",
       "nan"},
      {"AssertionError: Rank 3: found NaN in local forward loss calculation.", "nan"},
      {"Device 0 failed to initialize FW! Try resetting the board.", "device_lost"},
      {"Uncorrectable ECC error on GPU 0", "device_lost"},
      {"ETH link 0 is down", "ethernet"},
      {"[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, "
       "Timeout(ms)=600000) ran for 600012 milliseconds before timing out.",
       "hang"},
      {"[Rank 3] NCCL watchdog thread terminated with exception", "hang"},
      {"watchdog timeout: no progress for 600 s", "hang"},
      {"all_reduce timed out after 600 s", "hang"},
      {"coordinator heartbeat timeout: 30 s exceeded", "network"},
      {"dataset shard 7 is corrupt, 0 others", "data"},
      {"checkpoint /ckpt/nan_check is corrupt", "data"},
      {"no checkpoint found", "data"},
      {"container exited with code 137 (OOMKilled)", "host_oom"},
      {"Command terminated with exit code 137", "host_oom"},
      {"process exited with exit code 3", "unknown"},
      {"./run.sh: line 3: 4711 Segmentation fault      python train.py", "unknown"},
      {"Aborted (core dumped)", "unknown"},
      {"OSError: [Errno 28] No space left on device", "disk"},
      {"NCCL error: unhandled system error", "network"},
      {"ValueError: bad config TrainConfig(lr=0, timeout=3): lr must be positive", "config"},
      {"KeyError: 0", "config"},
  };
  for (const auto& [line, crash_class] : faults) {
    const Conclusion found = classify(line);
    EXPECT_TRUE(found.failed) << line;
    EXPECT_EQ(found.crash_class(), crash_class) << line;
  }
}

// Lines one after the other may mean what none of them means.
TEST_F(Innocent, NoFileOfThemIsTakenForALogOfAFailure) {
  for (const auto& [name, lines] : written_lines()) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    const Conclusion whole = classify(text);
    EXPECT_FALSE(whole.failed) << name << ": " << (whole.failed ? whole.verdict()->line : "");
  }
}

}  // namespace
}  // namespace trainward::rules
