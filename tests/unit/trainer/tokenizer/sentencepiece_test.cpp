// The same ids as SentencePiece gives, for a model that it trains here and that is written as a
// tokenizer.json the way Hugging Face's converter does. Skipped where it is not installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "common/base/json/json.hpp"
#include "llama_vocabulary.hpp"
#include "made_tokenizer.hpp"
#include "shell.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

constexpr int not_installed = 77;

// With the first Python that has it: Debian's package belongs to Debian's own.
test::ShellResult ask_oracle(unsigned seed) {
  return test::shell(fmt::format(
      "for python in python3 /usr/bin/python3; do "
      "  if $python -c 'import sentencepiece' 2>/dev/null; then exec $python '{}' {}; fi; "
      "done; exit {}",
      ORACLE, seed, not_installed));
}

// All pairs that make a piece, the likelier piece first, then the pair with the lower ids.
json::array merges_of(const json::array& pieces) {
  std::map<std::string, std::int64_t> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const json::array& piece = pieces[id].as_array();
    if (piece[2].as_string() == "normal") ids[piece[0].as_string().c_str()] = std::int64_t(id);
  }
  std::vector<std::tuple<double, std::int64_t, std::int64_t, std::string>> merges;
  for (const auto& [piece, id] : ids) {
    for (std::size_t at = utf8_character(piece); at < piece.size();
         at += utf8_character(std::string_view(piece).substr(at))) {
      const auto left = ids.find(piece.substr(0, at));
      const auto right = ids.find(piece.substr(at));
      if (left == ids.end() || right == ids.end()) continue;
      const double score = pieces[static_cast<std::size_t>(id)].as_array()[1].to_number<double>();
      merges.emplace_back(-score, left->second, right->second, left->first + " " + right->first);
    }
  }
  std::sort(merges.begin(), merges.end());
  json::array list;
  for (const auto& merge : merges) list.emplace_back(std::get<3>(merge));
  return list;
}

json::object file_of(const json::array& pieces) {
  json::object vocabulary;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    vocabulary[pieces[id].as_array()[0].as_string()] = id;
  }
  json::object file = llama_json();
  auto& model = file["model"].as_object();
  model["vocab"] = std::move(vocabulary);
  model["merges"] = merges_of(pieces);
  return file;
}

class SentencePieceTest : public testing::TestWithParam<unsigned> {};

TEST_P(SentencePieceTest, GivesTheSameIds) {
  const auto [code, output] = ask_oracle(GetParam());
  if (code == not_installed) GTEST_SKIP() << "python3-sentencepiece is not installed";
  ASSERT_EQ(code, 0);
  const auto answer = parse_json(output, "the oracle");
  ASSERT_TRUE(answer) << answer.error().message();
  const json::object& root = answer->get_object();
  const auto tokenizer = made_of(file_of(root.at("pieces").as_array()));
  ASSERT_TRUE(tokenizer);
  const json::array& cases = root.at("cases").as_array();
  ASSERT_GT(cases.size(), 1000U);
  int spaces = 0;
  int bytes = 0;
  for (const json::value& each : cases) {
    const std::string_view text = view(each.as_array()[0].as_string());
    const auto expected = json::value_to<Tokens>(each.as_array()[1]);
    ASSERT_EQ(encode(*tokenizer, text), expected) << text;
    // What it writes for a space cannot be told from one.
    if (text.find("▁") == std::string_view::npos) {
      ASSERT_EQ(tokenizer->decode(expected).value(), text);
    }
    spaces += text.find("   ") == std::string_view::npos ? 0 : 1;
    bytes += std::any_of(expected.begin(), expected.end(),
                         [](TokenId id) { return id >= 3 && id < 259; });
  }
  EXPECT_GT(spaces, 100);
  EXPECT_GT(bytes, 100);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SentencePieceTest, testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace trainward::trainer
