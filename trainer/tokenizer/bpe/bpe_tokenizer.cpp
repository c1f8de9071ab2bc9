#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/tokenizer/bpe/tokenizer_digest.hpp"
#include "trainer/tokenizer/file/tokenizer_config.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"
#include "trainer/tokenizer/tokens/byte_characters.hpp"

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
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  auto config = read_tokenizer_config(folder);
  if (!config) return propagate(config);
  if (auto ok = apply(*config, *file); !ok) {
    ok.error().where = fmt::format("{}: {}", config_path(folder).string(), ok.error().where);
    return propagate(ok);
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
      spelling_(file.spelling),
      before_(file.before),
      after_(file.after),
      texts_(file),
      merges_(file.merges),
      added_(with_normalized(file, false)),
      added_normalized_(with_normalized(file, true)),
      normalizer_(file.normalizer),
      pre_tokenizer_(std::move(pre_tokenizer)),
      symbols_(file),
      cuts_(file),
      merger_(merges_) {
  if (file.ignore_merges) {
    for (std::size_t id = 0; id < file.tokens.size(); ++id) {
      const auto& token = file.tokens[id];
      if (!token) continue;
      auto piece = spelling_ == Spelling::bytes ? bytes_of_token(*token) : token;
      if (piece) whole_.emplace(std::move(*piece), static_cast<TokenId>(id));
    }
  }
  std::vector<MergeRule> strict;
  std::copy_if(file.merges.begin(), file.merges.end(), std::back_inserter(strict),
               [&](const MergeRule& rule) { return !texts_.is_added(rule.merged); });
  const bool leaks = strict.size() < file.merges.size() ||
                     std::any_of(whole_.begin(), whole_.end(),
                                 [&](const auto& each) { return texts_.is_added(each.second); });
  if (!leaks) return;
  strict_merges_.emplace(strict);
  strict_merger_.emplace(*strict_merges_);
}

Status BpeTokenizer::encode_part(std::string_view text, const EncodeOptions& options,
                                 std::vector<TokenId>& out, const Watch& watch) {
  const std::size_t before = out.size();
  watch_ = watch ? &watch : nullptr;
  bytes_done_ = 0;
  bytes_in_all_ = text.size();
  next_report_ = between_reports;
  special_ = options.special;
  strict_ = !special_ && strict_merger_.has_value();
  Place place = options.begins        ? Place::beginning
                : options.after_token ? Place::after_token
                                      : Place::within;
  Status ok;
  while (ok && !text.empty()) {
    const std::size_t valid = utf8_valid_prefix(text);
    if (valid > 0) ok = encode_valid(text.substr(0, valid), place, out);
    text.remove_prefix(valid);
    std::size_t invalid = 0;
    while (invalid < text.size() && utf8_character(text.substr(invalid)) == 0) ++invalid;
    if (ok && invalid > 0) ok = encode_piece(text.substr(0, invalid), out);
    text.remove_prefix(invalid);
    // A space in front of bytes comes back when they are decoded: that is how it has always been.
    place = spelling_ == Spelling::bytes ? Place::after_token : Place::within;
  }
  if (!ok) out.resize(before);
  return ok;
}

namespace {

// Finds added tokens, and hands what lies between them to `between`.
template <typename Between>
Status cut_at(const AddedTokens& added, std::string_view text, Place place,
              std::vector<TokenId>& out, const Between& between) {
  std::size_t from = 0;
  while (const auto found = added.find(text, from)) {
    if (found->span.begin > from) {
      auto ok = between(text.substr(from, found->span.begin - from), place);
      if (!ok) return ok;
    }
    out.push_back(found->id);
    from = found->span.end;
    place = Place::after_token;
  }
  return from < text.size() ? between(text.substr(from), place) : Status();
}

}  // namespace

Status BpeTokenizer::encode_valid(std::string_view text, Place place, std::vector<TokenId>& out) {
  return cut_at(special_ ? added_ : no_added_, text, place, out,
                [&](std::string_view part, Place at) {
                  std::string storage;
                  const bool prepend = at != Place::within;
                  return encode_normalized(normalizer_.apply(part, storage, prepend), at, out);
                });
}

Status BpeTokenizer::encode_normalized(std::string_view text, Place place,
                                       std::vector<TokenId>& out) {
  const auto merge =
      cuts_.possible()
          ? PreTokenizer::Visit([&](std::string_view piece) { return encode_piece(piece, out); })
          : PreTokenizer::Visit([&](std::string_view piece) { return merge_part(piece, out); });
  return cut_at(
      special_ ? added_normalized_ : no_added_, text, place, out,
      [&](std::string_view part, Place at) { return pre_tokenizer_.split(part, at, merge); });
}

Status BpeTokenizer::report() {
  next_report_ = bytes_done_ + between_reports;
  // What is counted has been normalised, and may have become longer.
  return watch_ == nullptr ? Status() : (*watch_)(std::min(bytes_done_, bytes_in_all_));
}

Status BpeTokenizer::encode_piece(std::string_view piece, std::vector<TokenId>& out) {
  while (!piece.empty()) {
    const std::string_view part = piece.substr(0, cuts_.first_part(piece));
    if (auto ok = merge_part(part, out); !ok) return ok;
    piece.remove_prefix(part.size());
  }
  return {};
}

Status BpeTokenizer::merge_part(std::string_view part, std::vector<TokenId>& out) {
  bytes_done_ += part.size();
  if (bytes_done_ >= next_report_) {
    if (auto ok = report(); !ok) return ok;
  }
  if (part.size() > max_piece_bytes) {
    return fail(
        ErrorKind::corrupt,
        fmt::format("the text runs for {} with nowhere to cut it", human_bytes(part.size())),
        name_);
  }
  const bool cached = !strict_ && PieceCache::fits(part);
  if (cached) {
    if (const auto known = cache_.find(part); !known.empty()) {
      out.insert(out.end(), known.begin(), known.end());
      return {};
    }
  }
  const std::size_t before = out.size();
  const auto whole = whole_.empty() ? whole_.end() : whole_.find(std::string(part));
  if (whole != whole_.end() && !(strict_ && texts_.is_added(whole->second))) {
    out.push_back(whole->second);
  } else {
    start_.clear();
    if (auto ok = symbols_.append(part, start_); !ok) {
      ok.error().where = name_;
      return ok;
    }
    (strict_ ? *strict_merger_ : merger_).merge(start_, out);
  }
  if (cached) cache_.remember(part, std::span(out).subspan(before));
  return {};
}

Result<std::string> BpeTokenizer::decode_part(std::span<const TokenId> ids,
                                              const DecodeOptions& options) const {
  auto text = texts_.decode(ids, options);
  if (!text) text.error().where = name_;
  return text;
}

}  // namespace trainward::trainer
