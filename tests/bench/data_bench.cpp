// What the data costs: tokenizing, and handing out blocks.
//
// The vocabulary is learnt here from the texts in /usr/share/common-licenses (two thousand merges),
// since no other is at hand everywhere; a larger one makes fewer tokens of the same text, and the
// same work for the patterns.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>

#include "llama_vocabulary.hpp"
#include "trainer/data/corpus.hpp"
#include "trainer/data/document_reader.hpp"
#include "trainer/data/examples/example_reader.hpp"
#include "trainer/data/examples/read_examples.hpp"
#include "trainer/data/tokenize.hpp"
#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"
#include "vocabulary.hpp"

namespace {

using namespace trainward;           // NOLINT(google-build-using-namespace)
using namespace trainward::trainer;  // NOLINT(google-build-using-namespace)

std::string licenses() {
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/share/common-licenses")) {
    std::ifstream in(entry.path(), std::ios::binary);
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  return text;
}

using Word = std::vector<std::string>;

Word merged(const Word& word, const std::pair<std::string, std::string>& pair) {
  Word out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool hit = i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second;
    out.push_back(hit ? pair.first + pair.second : word[i]);
    i += hit ? 1 : 0;
  }
  return out;
}

// The most frequent pair of neighbours in the words of the text, again and again.
Merges learn(const std::string& text, int count) {
  auto pre_tokenizer = PreTokenizer::compile({SplitRule{std::string(gpt2_pattern)}});
  std::map<Word, int> words;
  (void)pre_tokenizer->split(text, Place::beginning, [&](std::string_view piece) -> Status {
    Word word;
    for (const char c : piece) word.emplace_back(1, c);
    ++words[word];
    return {};
  });
  Merges merges;
  while (static_cast<int>(merges.size()) < count) {
    std::map<std::pair<std::string, std::string>, int> pairs;
    for (const auto& [word, times] : words) {
      for (std::size_t i = 0; i + 1 < word.size(); ++i) pairs[{word[i], word[i + 1]}] += times;
    }
    const auto best =
        std::max_element(pairs.begin(), pairs.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == pairs.end() || best->second < 2) break;
    merges.push_back(best->first);
    std::map<Word, int> next;
    for (const auto& [word, times] : words) next[merged(word, best->first)] += times;
    words = std::move(next);
  }
  return merges;
}

const std::string& text() {
  static const std::string text = licenses().substr(0, std::size_t{1} << 20U);
  return text;
}

const Merges& merges() {
  static const Merges merges = learn(text().substr(0, std::size_t{1} << 17U), 2000);
  return merges;
}

std::unique_ptr<Tokenizer> tokenizer(bool deepseek) {
  auto file = parse_tokenizer(json::serialize(
      tokenizer_json(merges(), deepseek ? deepseek_rules() : byte_level(false, true))));
  return BpeTokenizer::make(std::move(*file), "bench").value();
}

// The same merges, of visible characters: a whole document is one piece.
std::unique_ptr<Tokenizer> llama_tokenizer() {
  const auto marked = [](const std::string& bytes) { return replaced(bytes, {" ", "\u2581"}); };
  TextMerges marks;
  for (const auto& [left, right] : merges()) {
    const std::string both = left + right;
    if (!std::all_of(both.begin(), both.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
      continue;
    }
    marks.emplace_back(marked(left), marked(right));
  }
  std::vector<std::string> characters{"\u2581"};
  for (char c = '!'; c <= '~'; ++c) characters.emplace_back(1, c);
  auto file = parse_tokenizer(json::serialize(llama_json(marks, characters)));
  return BpeTokenizer::make(std::move(*file), "bench").value();
}

void encode_with(benchmark::State& state, std::unique_ptr<Tokenizer> with,
                 const std::string& input) {
  std::vector<TokenId> tokens;
  for (auto _ : state) {
    tokens.clear();
    if (!with->encode(input, tokens)) state.SkipWithError("not encoded");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * input.size()));
  state.counters["bytes/token"] = static_cast<double>(input.size()) /
                                  static_cast<double>(std::max<std::size_t>(tokens.size(), 1));
}

void encode_text(benchmark::State& state, bool deepseek, const std::string& input) {
  encode_with(state, tokenizer(deepseek), input);
}

void encode_gpt2(benchmark::State& state) { encode_text(state, false, text()); }
void encode_deepseek(benchmark::State& state) { encode_text(state, true, text()); }

void encode_llama(benchmark::State& state) { encode_with(state, llama_tokenizer(), text()); }

// Nothing that was met before: what the cache does not help with.
void encode_random_words(benchmark::State& state) {
  std::mt19937 random(1);
  std::string input;
  while (input.size() < (std::size_t{1} << 20U)) {
    for (auto letters = 4 + random() % 8; letters > 0; --letters) {
      input += static_cast<char>('a' + random() % 26);
    }
    input += ' ';
  }
  encode_text(state, true, input);
}

std::string letters() {
  std::string input;
  for (const char c : text()) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) input += c;
  }
  return input;
}

// One piece of a MiB: the heap.
void encode_one_long_piece(benchmark::State& state) { encode_text(state, true, letters()); }
void encode_llama_long_piece(benchmark::State& state) {
  encode_with(state, llama_tokenizer(), letters());
}

void read_json_lines(benchmark::State& state) {
  const std::string line = json::serialize(json::object{{"text", text().substr(0, 2000)}});
  for (auto _ : state) benchmark::DoNotOptimize(document_of_line(line));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * line.size()));
}

// Blocks of 1024 tokens, from a file that is mapped.
void copy_mapped_blocks(benchmark::State& state) {
  const auto folder = std::filesystem::temp_directory_path() / "trainward-data-bench";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "text", std::ios::binary) << text();
  TokenizeJob job;
  job.paths = {(folder / "text").string()};
  job.out = folder / "tokens.bin";
  const auto with = tokenizer(true);
  (void)tokenize(job, *with);
  const std::vector<std::string> paths{job.out.string()};
  auto corpus = Corpus::read(paths, 1024);
  std::vector<TokenId> block(1024);
  std::int64_t next = 0;
  for (auto _ : state) {
    if (!corpus || !corpus->copy_block(next, block)) {
      state.SkipWithError("not copied");
      break;
    }
    next = (next + 1) % corpus->blocks();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * block.size()));
  std::filesystem::remove_all(folder);
}

// A file of short pairs as large as the best-known set of instructions: 52,002 rows.
class PairsFile {
 public:
  PairsFile() {
    std::mt19937 random(1);
    const auto words = [&](std::size_t most) {
      const std::size_t length = 10 + random() % most;
      return text().substr(random() % (text().size() - length), length);
    };
    std::ofstream out(path_);
    for (int i = 0; i < 52'002; ++i) {
      out << json::serialize(json::object{{"prompt", words(120)}, {"response", words(500)}})
          << '\n';
    }
  }
  ~PairsFile() { std::filesystem::remove(path_); }
  PairsFile(const PairsFile&) = delete;
  PairsFile& operator=(const PairsFile&) = delete;

  [[nodiscard]] LoadedExamples load(Tokenizer& with) const {
    const auto format = built_in_format("plain", {"", "<|endoftext|>", "", ""}).value();
    ExampleOptions options;
    options.tokenizer = &with;
    options.format = format.get();
    options.rules.ends = {with.end_of_text()};
    options.block = 512;
    const std::vector<std::string> paths{path_.string()};
    return read_examples(paths, options).value();
  }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / "trainward-pairs.jsonl";
};

void load_52k_pairs(benchmark::State& state) {
  const auto with = tokenizer(false);
  const PairsFile file;
  std::int64_t tokens = 0;
  for (auto _ : state) tokens += file.load(*with).set.tokens();
  state.SetItemsProcessed(tokens);
}

// Rows of 512: how many there are, and how full.
void pack_52k_pairs(benchmark::State& state) {
  const auto with = tokenizer(false);
  const PairsFile file;
  const LoadedExamples loaded = file.load(*with);
  std::vector<std::uint32_t> all(loaded.set.size());
  std::iota(all.begin(), all.end(), 0U);
  std::int64_t rows = 0;
  for (auto _ : state) {
    rows = ExampleRows(loaded.set, all, {512, true, 0, 1}).rows();
  }
  state.counters["rows"] = static_cast<double>(rows);
  state.counters["full"] =
      static_cast<double>(loaded.set.tokens()) / static_cast<double>(rows * 512);
  state.counters["examples/row"] = static_cast<double>(all.size()) / static_cast<double>(rows);
}

// A step of 32 rows, from order to weights.
void step_of_examples(benchmark::State& state, bool packing) {
  const auto with = tokenizer(false);
  const PairsFile file;
  const LoadedExamples loaded = file.load(*with);
  std::vector<std::uint32_t> all(loaded.set.size());
  std::iota(all.begin(), all.end(), 0U);
  const ExampleRows rows(loaded.set, all, {512, packing, 0, 1});
  ExampleReader reader(rows, 32, 1);
  for (auto _ : state) benchmark::DoNotOptimize(reader.next());
}
void step_of_padded_examples(benchmark::State& state) { step_of_examples(state, false); }
void step_of_packed_examples(benchmark::State& state) { step_of_examples(state, true); }

BENCHMARK(encode_gpt2)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_deepseek)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_llama)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_llama_long_piece)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_random_words)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_one_long_piece)->Unit(benchmark::kMillisecond);
BENCHMARK(read_json_lines);
BENCHMARK(copy_mapped_blocks);
BENCHMARK(load_52k_pairs)->Unit(benchmark::kMillisecond);
BENCHMARK(pack_52k_pairs)->Unit(benchmark::kMillisecond);
BENCHMARK(step_of_padded_examples);
BENCHMARK(step_of_packed_examples);

}  // namespace
