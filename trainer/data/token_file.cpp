#include "trainer/data/token_file.hpp"

#include <algorithm>

#include "common/base/digest.hpp"

namespace trainward::trainer {
namespace {

constexpr std::uint32_t version = 1;
constexpr std::size_t digest_bytes = 64;
constexpr std::size_t seal_at = 192;

template <typename Number>
void put(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    out += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFFU);
  }
}

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return static_cast<Number>(number);
}

bool is_digest(std::string_view text) {
  return text.size() == digest_bytes && text.find_first_not_of("0123456789abcdef") == text.npos;
}

tl::unexpected<Error> broken(std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), "",
              "create it again with trainward-worker tokenize");
}

Status check(const TokenHeader& header, std::uint64_t file_size) {
  if (header.width != 2 && header.width != 4) {
    return broken(fmt::format("has {} bytes a token, expected 2 or 4", header.width));
  }
  if (header.vocabulary < 1 || header.vocabulary > max_vocabulary ||
      header.width < token_width(header.vocabulary)) {
    return broken(
        fmt::format("has a vocabulary of {} in {} bytes a token", header.vocabulary, header.width));
  }
  if (header.end_of_text < 0 || header.end_of_text >= header.vocabulary) {
    return broken(fmt::format("ends documents with the token {} of {}", header.end_of_text,
                              header.vocabulary));
  }
  const std::uint64_t room = file_size - token_header_bytes;
  if (header.tokens != room / header.width || room % header.width != 0) {
    return broken(fmt::format("is {} bytes long, which does not fit {} tokens of {} bytes",
                              file_size, header.tokens, header.width));
  }
  if (header.documents > header.tokens) {
    return broken(fmt::format("has {} documents in {} tokens", header.documents, header.tokens));
  }
  return {};
}

}  // namespace

std::string encode(const TokenHeader& header) {
  std::string out(token_file_magic);
  put(out, version);
  put(out, header.width);
  put(out, header.tokens);
  put(out, header.documents);
  put(out, static_cast<std::uint32_t>(header.vocabulary));
  put(out, static_cast<std::uint32_t>(header.end_of_text));
  out += header.tokenizer_digest;
  out += header.token_digest;
  out.resize(seal_at);
  return out + sha256_hex(out);
}

Result<TokenHeader> parse_token_header(std::string_view bytes, std::uint64_t file_size) {
  if (bytes.size() < token_header_bytes || file_size < token_header_bytes) {
    return broken(fmt::format("is shorter than its header of {} bytes", token_header_bytes));
  }
  bytes = bytes.substr(0, token_header_bytes);
  if (!bytes.starts_with(token_file_magic)) return broken("does not begin as a token file");
  if (const auto found = number_at<std::uint32_t>(bytes, 8); found != version) {
    return fail(ErrorKind::usage,
                fmt::format("has version {}, this program reads {}", found, version), "",
                "use the program that wrote it, or tokenize the text again");
  }
  const std::string_view sealed = bytes.substr(0, seal_at);
  if (bytes.substr(seal_at) != sha256_hex(sealed)) return broken("has a damaged header");
  TokenHeader header;
  header.width = number_at<std::uint32_t>(bytes, 12);
  header.tokens = number_at<std::uint64_t>(bytes, 16);
  header.documents = number_at<std::uint64_t>(bytes, 24);
  header.vocabulary = number_at<std::uint32_t>(bytes, 32);
  header.end_of_text = number_at<TokenId>(bytes, 36);
  header.tokenizer_digest = bytes.substr(40, digest_bytes);
  header.token_digest = bytes.substr(104, digest_bytes);
  if (!is_digest(header.tokenizer_digest) || !is_digest(header.token_digest)) {
    return broken("has a malformed digest");
  }
  if (sealed.substr(168).find_first_not_of('\0') != std::string_view::npos) {
    return broken("has something where nothing may be");
  }
  if (auto ok = check(header, file_size); !ok) return propagate(ok);
  return header;
}

}  // namespace trainward::trainer
