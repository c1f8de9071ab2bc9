// Small tokenizer.json files for tests: every byte is a token (its id is the byte), and the merges
// follow in the order given, from 256 on.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/json/json.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"
#include "trainer/tokenizer/tokens/byte_characters.hpp"

namespace trainward::trainer {

// Raw bytes, left and right.
using Merges = std::vector<std::pair<std::string, std::string>>;

// `bytes` as a vocabulary writes them: bytes_of_token() the other way.
inline std::string token_of_bytes(std::string_view bytes) {
  static const auto characters = [] {
    std::map<char, std::string> found;
    for (char32_t c = 0; c < 0x200; ++c) {
      std::string character;
      append_utf8(character, c);
      if (const auto byte = bytes_of_token(character)) found[byte->front()] = character;
    }
    return found;
  }();
  std::string token;
  for (const char byte : bytes) token += characters.at(byte);
  return token;
}

inline json::object byte_level(bool prefix_space, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", prefix_space},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

inline json::object split(std::string_view pattern, std::string_view behavior = "Isolated",
                          bool invert = false) {
  return {{"type", "Split"},
          {"pattern", json::object{{"Regex", pattern}}},
          {"behavior", behavior},
          {"invert", invert}};
}

inline json::object sequence(json::array rules) {
  return {{"type", "Sequence"}, {"pretokenizers", std::move(rules)}};
}

inline json::object normalizers(std::initializer_list<const char*> types) {
  json::array list;
  for (const char* type : types) list.push_back(json::object{{"type", type}});
  return {{"type", "Sequence"}, {"normalizers", std::move(list)}};
}

// The three rules and ByteLevel of DeepSeek-V3.
inline json::object deepseek_rules() {
  return sequence(
      {split(R"(\p{N}{1,3})"), split("[一-龥\u3040-ゟ゠-ヿ]+"),
       split("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?"
             "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"),
       byte_level(false, false)});
}

inline json::object added(std::int64_t id, std::string_view content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

inline json::object tokenizer_json(const Merges& merges, json::value rules) {
  json::object vocabulary;
  const auto name = [](std::string_view bytes) { return token_of_bytes(bytes); };
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary[name(std::string(1, static_cast<char>(byte)))] = byte;
  }
  json::array list;
  for (const auto& [left, right] : merges) {
    const std::string merged = name(left + right);
    if (!vocabulary.contains(merged)) vocabulary[merged] = vocabulary.size();
    list.emplace_back(name(left) + " " + name(right));
  }
  const auto end = static_cast<std::int64_t>(vocabulary.size());
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", json::array{added(end, "<|endoftext|>")}},
          {"normalizer", nullptr},
          {"pre_tokenizer", std::move(rules)},
          {"post_processor", nullptr},
          {"decoder", byte_level(false, true)},
          {"model", json::object{{"type", "BPE"},
                                 {"dropout", nullptr},
                                 {"unk_token", nullptr},
                                 {"continuing_subword_prefix", nullptr},
                                 {"end_of_word_suffix", nullptr},
                                 {"fuse_unk", false},
                                 {"byte_fallback", false},
                                 {"ignore_merges", false},
                                 {"vocab", std::move(vocabulary)},
                                 {"merges", std::move(list)}}}};
}

}  // namespace trainward::trainer
