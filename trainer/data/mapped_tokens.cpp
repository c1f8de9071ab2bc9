#include "trainer/data/mapped_tokens.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <set>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"

namespace trainward::trainer {
namespace {

static_assert(std::endian::native == std::endian::little, "tokens are mapped as they lie");

constexpr std::size_t llm_c_header_bytes = 1024;
constexpr std::size_t scan_tokens = std::size_t{1} << 16U;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::uint64_t> size_of(int fd, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail_errno(errno, "look at the file", path.string());
  return static_cast<std::uint64_t>(info.st_size);
}

template <typename Element>
void widen(const std::byte* from, std::span<TokenId> out) {
  for (TokenId& token : out) {
    Element element{};
    std::memcpy(&element, from, sizeof element);
    // An id that is too large for a TokenId must not come out as a small one.
    token = element > static_cast<Element>(max_vocabulary - 1) && sizeof element == 4
                ? static_cast<TokenId>(max_vocabulary)
                : static_cast<TokenId>(element);
    from += sizeof element;
  }
}

// llm.c begins its files with 256 numbers: a mark of the width, version 1, the number of tokens.
bool begins_as_llm_c(std::span<const std::byte> bytes, std::uint32_t width) {
  if (bytes.size() < llm_c_header_bytes) return false;
  std::array<std::uint32_t, 3> numbers{};
  std::memcpy(numbers.data(), bytes.data(), sizeof numbers);
  const std::uint32_t mark = width == 2 ? 20240520 : 20240801;
  return numbers[0] == mark && numbers[1] == 1 &&
         std::uint64_t{numbers[2]} * width == bytes.size() - llm_c_header_bytes;
}

}  // namespace

Result<std::unique_ptr<MappedTokens>> MappedTokens::open(const std::vector<DataFiles>& data,
                                                         DataFormat format,
                                                         const TokenHeader& expected) {
  std::unique_ptr<MappedTokens> store(new MappedTokens);
  store->raw_ = format == DataFormat::u16 || format == DataFormat::u32;
  std::set<std::pair<dev_t, ino_t>> taken;
  for (const DataFiles& part : data) {
    const bool any = std::any_of(part.files.begin(), part.files.end(),
                                 [](const DataFile& file) { return file.file.bytes > 0; });
    if (!any) return nothing_to_read(part.path, part.unread);
    for (const DataFile& file : part.files) {
      if (file.file.bytes == 0 || !taken.insert(file.file.identity).second) continue;
      auto ok = store->add(file.file.path, format, expected);
      if (ok) continue;
      if (ok.error().where.empty()) ok.error().where = file.file.path.string();
      return propagate(ok);
    }
  }
  return store;
}

Status MappedTokens::add(const std::filesystem::path& path, DataFormat format,
                         const TokenHeader& expected) {
  auto fd = open_file(path, O_RDONLY);
  if (!fd) return propagate(fd);
  auto size = size_of(fd->get(), path);
  if (!size) return propagate(size);
  auto mapping = Mapping::open(fd->get(), *size, path.string());
  if (!mapping) return propagate(mapping);
  Part part{path, std::move(*fd), std::move(*mapping), {}, token_header_bytes, 0};
  if (raw_) {
    if (auto ok = read_raw(part, format, expected); !ok) return ok;
  } else {
    auto header = parse_token_header(text_of(part.mapping.bytes()), *size);
    if (!header) return propagate(header);
    part.header = std::move(*header);
  }
  if (parts_.empty()) facts_ = part.header;
  if (part.header.vocabulary != facts_.vocabulary ||
      part.header.end_of_text != facts_.end_of_text ||
      part.header.tokenizer_digest != facts_.tokenizer_digest) {
    return fail(
        ErrorKind::usage,
        fmt::format("was made with another tokenizer than {}", parts_.front().path.string()),
        path.string(), "tokenize both with the same");
  }
  if (!raw_ && !parts_.empty()) ++tokens_;  // the end of text between two files
  part.begin = tokens_;
  tokens_ += static_cast<std::int64_t>(part.header.tokens);
  documents_ += static_cast<std::int64_t>(part.header.documents);
  parts_.push_back(std::move(part));
  return {};
}

Status MappedTokens::read_raw(Part& part, DataFormat format, const TokenHeader& expected) {
  part.header = expected;
  part.header.width = format == DataFormat::u16 ? 2 : 4;
  const auto bytes = part.mapping.bytes();
  if (text_of(bytes).starts_with(token_file_magic)) {
    return fail(ErrorKind::usage, "has our header", part.path.string(), "leave data_format out");
  }
  part.first_byte = begins_as_llm_c(bytes, part.header.width) ? llm_c_header_bytes : 0;
  if ((bytes.size() - part.first_byte) % part.header.width != 0) {
    return fail(ErrorKind::corrupt,
                fmt::format("is {} bytes long, which is not a whole number of tokens of {}",
                            bytes.size(), part.header.width));
  }
  part.header.tokens = (bytes.size() - part.first_byte) / part.header.width;
  part.header.documents = 0;
  std::vector<TokenId> scratch(scan_tokens);
  for (std::uint64_t at = 0; at < part.header.tokens; at += scan_tokens) {
    const auto some = std::min<std::uint64_t>(scan_tokens, part.header.tokens - at);
    if (auto ok = copy_part(part, at, std::span(scratch).first(some)); !ok) return ok;
  }
  part.header.token_digest = sha256_hex(text_of(bytes.subspan(part.first_byte)));
  return {};
}

Status MappedTokens::copy_part(const Part& part, std::uint64_t from, std::span<TokenId> out) {
  // Reading a page that is no longer in the file would end the process.
  auto size = size_of(part.fd.get(), part.path);
  if (!size) return propagate(size);
  if (*size < part.mapping.bytes().size()) {
    return fail(ErrorKind::permanent,
                fmt::format("was cut from {} to {} bytes while it was in use",
                            part.mapping.bytes().size(), *size),
                part.path.string(), "replace data files by renaming, never in place");
  }
  const std::byte* first = part.mapping.bytes().data() + part.first_byte + from * part.header.width;
  part.header.width == 2 ? widen<std::uint16_t>(first, out) : widen<std::uint32_t>(first, out);
  const auto bad = std::find_if(out.begin(), out.end(), [&](TokenId token) {
    return token < 0 || token >= part.header.vocabulary;
  });
  if (bad == out.end()) return {};
  const auto position = from + static_cast<std::uint64_t>(bad - out.begin());
  return fail(ErrorKind::corrupt,
              fmt::format("the token at position {} is outside the vocabulary of {}", position,
                          part.header.vocabulary),
              part.path.string(), "was it made with another tokenizer, or with another width?");
}

Status MappedTokens::copy(std::int64_t from, std::span<TokenId> out) const {
  // The last part that begins at or before `from`.
  auto part = std::upper_bound(parts_.begin(), parts_.end(), from,
                               [](std::int64_t at, const Part& p) { return at < p.begin; }) -
              1;
  while (!out.empty()) {
    const auto inside = static_cast<std::uint64_t>(from - part->begin);
    const auto some = std::min<std::uint64_t>(
        out.size(), part->header.tokens - std::min(part->header.tokens, inside));
    if (some > 0) {
      if (auto ok = copy_part(*part, inside, out.first(some)); !ok) return ok;
      out = out.subspan(some);
      from += static_cast<std::int64_t>(some);
    } else if (part + 1 != parts_.end() && from == (part + 1)->begin) {
      ++part;
    } else {
      out.front() = facts_.end_of_text;
      out = out.subspan(1);
      ++from;
    }
  }
  return {};
}

std::string MappedTokens::digest() const {
  Sha256 hash;
  hash.update(fmt::format("trainward token files 1\n{} {} {} {}\n", raw_, facts_.tokenizer_digest,
                          facts_.vocabulary, facts_.end_of_text));
  for (const Part& part : parts_) {
    hash.update(
        fmt::format("{} {} {}\n", part.header.width, part.header.tokens, part.header.token_digest));
  }
  return hash.finish();
}

Status MappedTokens::verify() const {
  std::vector<TokenId> scratch(scan_tokens);
  for (const Part& part : parts_) {
    for (std::uint64_t at = 0; at < part.header.tokens; at += scan_tokens) {
      const auto some = std::min<std::uint64_t>(scan_tokens, part.header.tokens - at);
      if (auto ok = copy_part(part, at, std::span(scratch).first(some)); !ok) return ok;
    }
    if (sha256_hex(text_of(part.mapping.bytes().subspan(part.first_byte))) !=
        part.header.token_digest) {
      return fail(ErrorKind::corrupt, "does not hold the tokens its header describes",
                  part.path.string(), "create it again with trainward-worker tokenize");
    }
  }
  return {};
}

}  // namespace trainward::trainer
