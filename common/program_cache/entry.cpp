#include "common/program_cache/entry.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "common/base/json/json_text.hpp"
#include "common/os/file.hpp"

namespace trainward::program_cache {
namespace {

constexpr std::string_view magic = "TWPROG\r\n";
constexpr std::uint32_t version = 1;
constexpr std::size_t prefix_bytes = 8 + 4 + 4 + 8;
constexpr std::uint32_t max_info_bytes = 32U << 10U;
constexpr std::size_t max_text_bytes = 1000;
constexpr std::size_t chunk_bytes = 1U << 20U;

tl::unexpected<Error> damaged(const std::filesystem::path& where, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), where.string());
}

template <typename Number>
void append_number(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= static_cast<Number>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

std::string_view shortened(std::string_view text) { return text.substr(0, max_text_bytes); }

// Fewer bytes than were asked for mean that the file has shrunk since its size was read.
Status read_exactly(int fd, std::span<char> into, std::uint64_t at,
                    const std::filesystem::path& where) {
  auto got = read_at(fd, std::as_writable_bytes(into), at, where);
  if (!got) return propagate(got);
  if (*got != into.size()) return damaged(where, "ends early");
  return {};
}

// Compares all bytes with the digest. `memory` is for the program as a whole (keep), or for a
// piece.
Status compare_digest(int fd, const EntryHead& head, std::span<char> memory, bool keep,
                      const std::filesystem::path& where) {
  Sha256 hash;
  std::string before(head.program_at, '\0');
  if (auto ok = read_exactly(fd, before, 0, where); !ok) return ok;
  hash.update(before);
  std::uint64_t done = 0;
  while (done < head.program_bytes) {
    const std::size_t piece = std::min<std::uint64_t>(chunk_bytes, head.program_bytes - done);
    const std::span<char> into = memory.subspan(keep ? done : 0, piece);
    if (auto ok = read_exactly(fd, into, head.program_at + done, where); !ok) return ok;
    hash.update({into.data(), into.size()});
    done += piece;
  }
  std::array<char, digest_digits> digest{};
  if (auto ok = read_exactly(fd, digest, head.program_at + done, where); !ok) return ok;
  if (hash.finish() != std::string_view(digest.data(), digest.size())) {
    return damaged(where, "its bytes do not match their checksum");
  }
  return {};
}

}  // namespace

std::string encode_head(const std::string& key, const ProgramInfo& info, std::int64_t made_ms,
                        std::uint64_t program_bytes) {
  // JsonText replaces what is not UTF-8, a character cut in two among it: it can be read again.
  const std::string text = JsonText()
                               .add("key", key)
                               .add("name", shortened(info.name))
                               .add("platform", shortened(info.platform))
                               .add("plugin", shortened(info.plugin))
                               .add("made_ms", made_ms)
                               .object();
  std::string head(magic);
  append_number(head, version);
  append_number(head, static_cast<std::uint32_t>(text.size()));
  append_number(head, program_bytes);
  return head + text;
}

Result<EntryHead> read_head(int fd, std::uint64_t file_bytes, std::string_view key,
                            const std::filesystem::path& where) {
  if (file_bytes < prefix_bytes + digest_digits) {
    return damaged(where, fmt::format("is cut short: {} bytes", file_bytes));
  }
  std::string prefix(prefix_bytes, '\0');
  if (auto ok = read_exactly(fd, prefix, 0, where); !ok) return propagate(ok);
  if (!prefix.starts_with(magic)) return damaged(where, "is not a compiled program of ours");
  if (const auto found = number_at<std::uint32_t>(prefix, 8); found != version) {
    return damaged(where,
                   fmt::format("has format version {}, this program reads {}", found, version));
  }
  const auto info_bytes = number_at<std::uint32_t>(prefix, 12);
  const auto program_bytes = number_at<std::uint64_t>(prefix, 16);
  const std::uint64_t rest = file_bytes - prefix_bytes - digest_digits;
  if (info_bytes > max_info_bytes || info_bytes > rest || program_bytes != rest - info_bytes) {
    return damaged(where, fmt::format("says it has {} + {} bytes, the file has {} for them",
                                      info_bytes, program_bytes, rest));
  }
  std::string text(info_bytes, '\0');
  if (auto ok = read_exactly(fd, text, prefix_bytes, where); !ok) return propagate(ok);
  auto parsed = parse_json(text, where.string());
  if (!parsed || !parsed->is_object()) return damaged(where, "its description is damaged");
  const json::object& object = parsed->get_object();
  EntryHead head;
  head.key = string_or(object, "key", "");
  if (head.key != key) return damaged(where, "is the program of another key");
  head.info = {string_or(object, "name", ""), string_or(object, "platform", ""),
               string_or(object, "plugin", "")};
  head.made_ms = int_or(object, "made_ms", 0);
  head.program_at = prefix_bytes + info_bytes;
  head.program_bytes = program_bytes;
  return head;
}

Result<std::string> read_program(int fd, const EntryHead& head,
                                 const std::filesystem::path& where) {
  std::string bytes(head.program_bytes, '\0');
  if (auto ok = compare_digest(fd, head, bytes, true, where); !ok) return propagate(ok);
  return bytes;
}

Status check_program(int fd, const EntryHead& head, const std::filesystem::path& where) {
  std::string memory(std::min<std::uint64_t>(chunk_bytes, head.program_bytes), '\0');
  return compare_digest(fd, head, memory, false, where);
}

}  // namespace trainward::program_cache
