#include "trainer/tokenizer/bpe/tokenizer_digest.hpp"

#include <string_view>

#include "common/base/digest.hpp"

namespace trainward::trainer {

// Lengths come first, so that no two vocabularies are the same text.
std::string digest_of(const TokenizerFile& file, TokenId end) {
  Sha256 hash;
  hash.update(fmt::format("trainward tokenizer 1\nbpe {} {}\n", file.ignore_merges, end));
  const auto put = [&](std::string_view kind, std::string_view facts, std::string_view text) {
    hash.update(fmt::format("{} {} {}:", kind, facts, text.size()));
    hash.update(text);
  };
  // Hashed only if present: digests without these fields are older than the fields.
  if (file.spelling == Spelling::characters) {
    hash.update(fmt::format("characters {} {} {}\n", file.byte_fallback, file.unknown.value_or(-1),
                            file.fuse_unknown));
  }
  for (const NormalizerStep& each : file.normalizer) {
    if (const auto* step = std::get_if<CharacterStep>(&each)) {
      hash.update(fmt::format("normalizer {}\n", name_of(*step)));
    } else if (const auto* prepend = std::get_if<Prepend>(&each)) {
      put("prepend", "", prepend->text);
    } else if (const auto* replace = std::get_if<Replace>(&each)) {
      put("replace", fmt::to_string(replace->from.size()), replace->from + replace->to);
    }
  }
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    if (file.tokens[id]) put("token", fmt::to_string(id), *file.tokens[id]);
  }
  for (const MergeRule& rule : file.merges) {
    hash.update(fmt::format("merge {} {} {}\n", rule.left, rule.right, rule.merged));
  }
  for (const AddedToken& token : file.added) {
    put("added",
        fmt::format("{} {} {} {}{}", token.id, token.lstrip, token.rstrip, token.normalized,
                    token.single_word ? " single" : ""),
        token.content);
  }
  for (const PreTokenizerRule& rule : file.rules) {
    if (const auto* split = std::get_if<SplitRule>(&rule)) {
      put("split",
          fmt::format("{} {} {}", split->literal, static_cast<int>(split->behavior), split->invert),
          split->pattern);
    } else if (const auto* metaspace = std::get_if<Metaspace>(&rule)) {
      put("metaspace", fmt::format("{} {}", static_cast<int>(metaspace->prepend), metaspace->split),
          metaspace->replacement);
    } else {
      hash.update("space\n");
    }
  }
  return hash.finish();
}

}  // namespace trainward::trainer
