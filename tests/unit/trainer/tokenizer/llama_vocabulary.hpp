// A small tokenizer.json in the manner of Llama 2's: <unk>, <s>, </s>, the 256 bytes from 3 on,
// what is merged from 259 on, and the characters behind that.
//
//   259 ▁▁  260 ▁t  261 he  262 ▁w  263 ll  264 or  265 ▁the  266 ▁▁▁▁  267 hell  268 hello
//   269 ▁hello  270 ▁wor  271 ld  272 ▁world  273 </  274 s>    (</ and s> merge to </s>, 2)
//   275 ▁  276 e  277 t  278 a  279 o  280 n  281 h  282 l  283 w  284 r  285 d  286 é  287 <
//   288 /  289 s  290 >
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vocabulary.hpp"

namespace trainward::trainer {

inline json::object llama_normalizer() {
  return {{"type", "Sequence"},
          {"normalizers", json::array{json::object{{"type", "Prepend"}, {"prepend", "▁"}},
                                      json::object{{"type", "Replace"},
                                                   {"pattern", json::object{{"String", " "}}},
                                                   {"content", "▁"}}}}};
}

inline json::object llama_decoder() {
  return {
      {"type", "Sequence"},
      {"decoders",
       json::array{
           json::object{
               {"type", "Replace"}, {"pattern", json::object{{"String", "▁"}}}, {"content", " "}},
           json::object{{"type", "ByteFallback"}}, json::object{{"type", "Fuse"}},
           json::object{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
}

// <s> before the text.
inline json::object llama_template() {
  const auto piece = [](const char* kind, const char* id) {
    return json::object{{kind, json::object{{"id", id}, {"type_id", 0}}}};
  };
  return {{"type", "TemplateProcessing"},
          {"single", json::array{piece("SpecialToken", "<s>"), piece("Sequence", "A")}},
          {"pair", json::array{piece("Sequence", "A"), piece("Sequence", "B")}},
          {"special_tokens", json::object{{"<s>", json::object{{"id", "<s>"},
                                                               {"ids", json::array{1}},
                                                               {"tokens", json::array{"<s>"}}}}}}};
}

using TextMerges = std::vector<std::pair<std::string, std::string>>;

// `merges` in their order; what they make and `characters` get the ids from 259 on.
inline json::object llama_json(const TextMerges& merges,
                               const std::vector<std::string>& characters) {
  json::object vocabulary{{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  json::array list;
  const auto add = [&](const std::string& token) {
    if (!vocabulary.contains(token)) vocabulary[token] = vocabulary.size();
  };
  for (const auto& [left, right] : merges) {
    add(left + right);
    list.emplace_back(left + " " + right);
  }
  for (const std::string& character : characters) add(character);
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", json::array{added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")}},
          {"normalizer", llama_normalizer()},
          {"pre_tokenizer", nullptr},
          {"post_processor", llama_template()},
          {"decoder", llama_decoder()},
          {"model", json::object{{"type", "BPE"},
                                 {"dropout", nullptr},
                                 {"unk_token", "<unk>"},
                                 {"continuing_subword_prefix", nullptr},
                                 {"end_of_word_suffix", nullptr},
                                 {"fuse_unk", true},
                                 {"byte_fallback", true},
                                 {"ignore_merges", false},
                                 {"vocab", std::move(vocabulary)},
                                 {"merges", std::move(list)}}}};
}

inline json::object llama_json() {
  return llama_json(
      {{"▁", "▁"},
       {"▁", "t"},
       {"h", "e"},
       {"▁", "w"},
       {"l", "l"},
       {"o", "r"},
       {"▁t", "he"},
       {"▁▁", "▁▁"},
       {"he", "ll"},
       {"hell", "o"},
       {"▁", "hello"},
       {"▁w", "or"},
       {"l", "d"},
       {"▁wor", "ld"},
       {"<", "/"},
       {"s", ">"},
       {"</", "s>"}},
      {"▁", "e", "t", "a", "o", "n", "h", "l", "w", "r", "d", "é", "<", "/", "s", ">"});
}

inline json::object metaspace(const char* scheme, bool split = true) {
  return {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", split}};
}

// The same, as files are written that leave the beginning to Metaspace.
inline json::object metaspace_json(json::object rule) {
  json::object file = llama_json();
  file["normalizer"] = nullptr;
  file["pre_tokenizer"] = std::move(rule);
  return file;
}

}  // namespace trainward::trainer
