// A folder with a tiny model from Hugging Face's side, pairs to learn, and what they make together.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/os/json_file.hpp"
#include "world.hpp"

namespace trainward::e2e {

struct Pair {
  std::string prompt, response;
};

class FinetuneWorld : public World {
 protected:
  // By the script that users take along; skipped where there is no Python.
  void SetUp() override {
    if (!std::filesystem::exists(python)) GTEST_SKIP() << "python3 is not installed";
    for (const char* file : {"make_tiny_model.py", "pairs.jsonl", "tiny.yaml"}) {
      std::filesystem::copy_file(std::filesystem::path(SOURCE_FOLDER "/examples/finetune") / file,
                                 path(file));
    }
    const Output made = run(python, {"make_tiny_model.py"});
    ASSERT_EQ(made.code, 0) << made.err;
  }

  static constexpr const char* python = "/usr/bin/python3";

  std::vector<Pair> pairs() {
    std::vector<Pair> out;
    std::string text = read_file(path("pairs.jsonl"), 1 << 20).value();
    for (std::string_view rest = text; !rest.empty();) {
      const auto end = rest.find('\n');
      const auto row = json::parse(rest.substr(0, end)).as_object();
      out.push_back({string_or(row, "prompt", ""), string_or(row, "response", "")});
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    return out;
  }

  // `training` is added to what makes a run of seconds; `more` to the program.
  static constexpr const char* no_rate = "1.0e-30";
  static std::string program_text(const std::string& training, const std::string& device = "",
                                  const std::string& more = "", const std::string& rate = "0.002") {
    return "programs:\n  run:\n    training_config: {base_model: tiny-model, data: pairs.jsonl, "
           "prompt_format: question_answer, batch_size: 2, block_size: 96, learning_rate: " +
           rate + ", seed: 7" + training + "}\n    device_config: {threads: 1" + device +
           "}\n    backoff: {first: 20ms}\n    deadlines: {train_floor: 20s, stop: 20s}\n" + more;
  }
  static constexpr const char* lora =
      ", lora: {r: 8, lora_alpha: 16, lora_dropout: 0.1, target_modules: all-linear}";
  static constexpr const char* all_at_once = ", packing: true, dropout: 0.1";

  // What the supervisor wrote for its worker.
  std::string worker_file(const std::string& name = "run") const {
    return path(".trainward/runs/" + name + "/attempts/0001/worker.json").string();
  }
  std::string checkpoints(const std::string& name = "run") const {
    return path(".trainward/runs/" + name + "/checkpoints").string();
  }

  std::string stdout_of(std::int64_t attempt) const {
    return read_file(path(fmt::format(".trainward/runs/run/attempts/{:04}/stdout.log", attempt)),
                     16 << 20)
        .value();
  }
  // The losses that an attempt printed, as text.
  std::vector<std::string> losses(std::int64_t attempt = 1) {
    const std::string log = stdout_of(attempt);
    std::vector<std::string> out;
    constexpr std::string_view word = " loss ";
    for (std::size_t at = 0; (at = log.find(" step ", at)) != log.npos; ++at) {
      const auto loss = log.find(word, at);
      const auto end = log.find('\n', at);
      if (loss == log.npos || loss > end || log.find("held-out", at) < loss) continue;
      const auto begin = loss + word.size();
      out.push_back(log.substr(begin, log.find(' ', begin) - begin));
    }
    return out;
  }

  std::string answer(const std::vector<std::string>& model, const std::string& prompt) {
    std::vector<std::string> words{"generate", "--chat",    "--prompt", prompt,     "--temperature",
                                   "0",        "--threads", "1",        "--tokens", "40"};
    words.insert(words.end(), model.begin(), model.end());
    const Output said = run("trainward-worker", words);
    EXPECT_EQ(said.code, 0) << said.err;
    return said.out;
  }
};

}  // namespace trainward::e2e
