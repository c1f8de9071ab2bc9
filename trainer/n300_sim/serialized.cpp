#include "trainer/n300_sim/serialized.hpp"

#include <cstdint>

#include "common/base/digest.hpp"

namespace trainward::n300 {
namespace {

constexpr std::string_view magic = "TWSIM300";
constexpr std::uint32_t version = 1;
constexpr std::size_t version_at = 8, size_at = 12, digest_at = 20, text_at = 84;

void append_number(std::string& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes.push_back(static_cast<char>((number >> (8 * i)) & 0xffU));
  }
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return number;
}

}  // namespace

std::string seal_program(std::string_view text) {
  std::string bytes(magic);
  append_number(bytes, version, size_at - version_at);
  append_number(bytes, text.size(), digest_at - size_at);
  bytes += sha256_hex(text);
  return bytes.append(text);
}

Result<std::string_view> open_program(std::string_view bytes) {
  const auto corrupt = [](std::string what) { return fail(ErrorKind::corrupt, std::move(what)); };
  if (bytes.size() < text_at || !bytes.starts_with(magic)) {
    return corrupt("is not a serialized program of the simulated N300");
  }
  if (const std::uint64_t found = number_at(bytes, version_at, size_at - version_at);
      found != version) {
    return corrupt(fmt::format("is of format {}, and this is {}", found, version));
  }
  const std::string_view text = bytes.substr(text_at);
  if (const std::uint64_t size = number_at(bytes, size_at, digest_at - size_at);
      size != text.size()) {
    return corrupt(fmt::format("holds {} bytes of text instead of {}", text.size(), size));
  }
  if (bytes.substr(digest_at, text_at - digest_at) != sha256_hex(text)) {
    return corrupt("does not match its checksum");
  }
  return text;
}

}  // namespace trainward::n300
