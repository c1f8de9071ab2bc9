#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"

#include "common/base/digest.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/tokenizer/bpe/byte_characters.hpp"
#include "trainer/tokenizer/text/utf8.hpp"

namespace trainward::trainer {
namespace {

// GPT-2 and many after it; DeepSeek; Llama 3; Gemma, SmolLM and others; Qwen's chat models.
constexpr std::array<std::string_view, 6> usual_ends{
    "<|endoftext|>", "<｜end▁of▁sentence｜>", "<|end_of_text|>", "</s>", "<eos>", "<|im_end|>"};

std::vector<AddedToken> with_normalized(const TokenizerFile& file, bool normalized) {
  std::vector<AddedToken> tokens;
  std::copy_if(file.added.begin(), file.added.end(), std::back_inserter(tokens),
               [&](const AddedToken& token) { return token.normalized == normalized; });
  if (!normalized) return tokens;
  // They are looked for in text that has been normalised.
  const Normalizer normalizer(file.normalizer);
  for (AddedToken& token : tokens) {
    std::string storage;
    token.content = std::string(normalizer.apply(token.content, storage));
  }
  return tokens;
}

Result<TokenId> find_end(const TokenizerFile& file, const std::string& wanted) {
  const auto id_of = [&](std::string_view content) -> std::optional<TokenId> {
    for (const AddedToken& token : file.added) {
      if (token.content == content) return token.id;
    }
    return std::nullopt;
  };
  if (!wanted.empty()) {
    if (const auto id = id_of(wanted)) return *id;
    return fail(ErrorKind::usage, fmt::format("no added token is '{}'", wanted), "end_of_text",
                "write it as added_tokens has it");
  }
  for (const std::string_view usual : usual_ends) {
    if (const auto id = id_of(usual)) return *id;
  }
  return fail(ErrorKind::usage, "which token ends a document is not known", "end_of_text",
              "name one of its added tokens");
}

// Merging takes 28 bytes of memory for each byte of a piece.
constexpr std::size_t max_piece_bytes = std::size_t{16} << 20U;

constexpr std::uint64_t between_reports = std::uint64_t{1} << 20U;

// Lengths come first, so that no two vocabularies are the same text.
std::string digest_of(const TokenizerFile& file, TokenId end) {
  Sha256 hash;
  hash.update(fmt::format("trainward tokenizer 1\nbpe {} {}\n", file.ignore_merges, end));
  const auto put = [&](std::string_view kind, std::string_view facts, std::string_view text) {
    hash.update(fmt::format("{} {} {}:", kind, facts, text.size()));
    hash.update(text);
  };
  // Nothing where there is none: those digests are older than normalizers.
  for (const NormalizerStep step : file.normalizer) {
    hash.update(fmt::format("normalizer {}\n", name_of(step)));
  }
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    if (file.tokens[id]) put("token", fmt::to_string(id), *file.tokens[id]);
  }
  for (const MergeRule& rule : file.merges) {
    hash.update(fmt::format("merge {} {} {}\n", rule.left, rule.right, rule.merged));
  }
  for (const AddedToken& token : file.added) {
    put("added", fmt::format("{} {} {} {}", token.id, token.lstrip, token.rstrip, token.normalized),
        token.content);
  }
  for (const PreTokenizerRule& rule : file.rules) {
    const auto* split = std::get_if<SplitRule>(&rule);
    if (split == nullptr) {
      hash.update("space\n");
    } else {
      put("split",
          fmt::format("{} {} {}", split->literal, static_cast<int>(split->behavior), split->invert),
          split->pattern);
    }
  }
  return hash.finish();
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::open(const std::string& path,
                                                      const std::string& end_of_text) {
  auto text = read_file(path, max_tokenizer_bytes);
  if (!text) return propagate(text);
  auto file = parse_tokenizer(*text);
  if (!file) {
    Error& error = file.error();
    error.where = error.where.empty() ? path : fmt::format("{}: {}", path, error.where);
    return propagate(file);
  }
  return make(std::move(*file), path, end_of_text);
}

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::make(TokenizerFile file, std::string name,
                                                      const std::string& end_of_text) {
  auto end = find_end(file, end_of_text);
  if (!end) return propagate(end);
  auto pre_tokenizer = PreTokenizer::compile(file.rules);
  if (!pre_tokenizer) return propagate(pre_tokenizer);
  return std::unique_ptr<Tokenizer>(
      new BpeTokenizer(std::move(file), std::move(*pre_tokenizer), std::move(name), *end));
}

BpeTokenizer::BpeTokenizer(TokenizerFile file, PreTokenizer pre_tokenizer, std::string name,
                           TokenId end)
    : vocabulary_(file.vocabulary()),
      end_of_text_(end),
      name_(std::move(name)),
      digest_(digest_of(file, end)),
      texts_(static_cast<std::size_t>(vocabulary_)),
      merges_(file.merges),
      added_(with_normalized(file, false)),
      added_normalized_(with_normalized(file, true)),
      normalizer_(file.normalizer),
      pre_tokenizer_(std::move(pre_tokenizer)),
      merger_(merges_) {
  byte_tokens_.fill(-1);
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    if (!file.tokens[id]) continue;
    auto bytes = bytes_of_token(*file.tokens[id]);
    // A token with characters that stand for no byte never comes out of merging.
    texts_[id] = bytes ? *bytes : *file.tokens[id];
    if (!bytes) continue;
    if (bytes->size() == 1) {
      byte_tokens_[static_cast<unsigned char>(bytes->front())] = static_cast<TokenId>(id);
    }
    if (file.ignore_merges) whole_.emplace(std::move(*bytes), static_cast<TokenId>(id));
  }
  for (const AddedToken& token : file.added) {
    texts_[static_cast<std::size_t>(token.id)] = token.content;
  }
}

Status BpeTokenizer::encode_watched(std::string_view text, std::vector<TokenId>& out,
                                    const Watch& watch) {
  const std::size_t before = out.size();
  watch_ = watch ? &watch : nullptr;
  bytes_done_ = 0;
  bytes_in_all_ = text.size();
  next_report_ = between_reports;
  Status ok;
  while (ok && !text.empty()) {
    const std::size_t valid = utf8_valid_prefix(text);
    if (valid > 0) ok = encode_valid(text.substr(0, valid), added_, &added_normalized_, out);
    text.remove_prefix(valid);
    std::size_t invalid = 0;
    while (invalid < text.size() && utf8_character(text.substr(invalid)) == 0) ++invalid;
    if (ok && invalid > 0) ok = encode_piece(text.substr(0, invalid), out);
    text.remove_prefix(invalid);
  }
  if (!ok) out.resize(before);
  return ok;
}

Status BpeTokenizer::encode_valid(std::string_view text, const AddedTokens& added,
                                  const AddedTokens* then, std::vector<TokenId>& out) {
  const auto between = [&](std::string_view part) -> Status {
    if (part.empty()) return {};
    if (then != nullptr) {
      std::string storage;
      return encode_valid(normalizer_.apply(part, storage), *then, nullptr, out);
    }
    return pre_tokenizer_.split(part,
                                [&](std::string_view piece) { return encode_piece(piece, out); });
  };
  std::size_t from = 0;
  while (const auto found = added.find(text, from)) {
    if (auto ok = between(text.substr(from, found->span.begin - from)); !ok) return ok;
    out.push_back(found->id);
    from = found->span.end;
  }
  return between(text.substr(from));
}

Status BpeTokenizer::report() {
  next_report_ = bytes_done_ + between_reports;
  // What is counted has been normalised, and may have become longer.
  return watch_ == nullptr ? Status() : (*watch_)(std::min(bytes_done_, bytes_in_all_));
}

Status BpeTokenizer::encode_piece(std::string_view piece, std::vector<TokenId>& out) {
  bytes_done_ += piece.size();
  if (bytes_done_ >= next_report_) {
    if (auto ok = report(); !ok) return ok;
  }
  if (piece.size() > max_piece_bytes) {
    return fail(ErrorKind::corrupt,
                fmt::format("the text goes on for {} without anything to cut it at",
                            human_bytes(piece.size())),
                name_);
  }
  const bool cached = PieceCache::fits(piece);
  if (cached) {
    if (const auto known = cache_.find(piece); !known.empty()) {
      out.insert(out.end(), known.begin(), known.end());
      return {};
    }
  }
  const std::size_t before = out.size();
  const auto whole = whole_.empty() ? whole_.end() : whole_.find(std::string(piece));
  if (whole != whole_.end()) {
    out.push_back(whole->second);
  } else {
    bytes_.clear();
    for (const char byte : piece) {
      const TokenId token = byte_tokens_[static_cast<unsigned char>(byte)];
      if (token < 0) {
        return fail(ErrorKind::corrupt,
                    fmt::format("the text holds the byte 0x{:02X}, for which the vocabulary has no "
                                "token",
                                static_cast<unsigned char>(byte)),
                    name_);
      }
      bytes_.push_back(token);
    }
    merger_.merge(bytes_, out);
  }
  if (cached) cache_.remember(piece, std::span(out).subspan(before));
  return {};
}

Result<std::string> BpeTokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) {
    const auto at = static_cast<std::size_t>(id);
    if (id < 0 || at >= texts_.size() || !texts_[at]) {
      return fail(ErrorKind::usage, fmt::format("no token has the id {}", id), name_);
    }
    text += *texts_[at];
  }
  return text;
}

}  // namespace trainward::trainer
