// The header of a file of tokens, as it is and once more with its seal put right: a digest that has
// to match by chance would keep everything behind it out of reach. The first eight bytes of the
// input are the size of the file.
#include <cstring>
#include <string>

#include "common/base/digest.hpp"
#include "require.hpp"
#include "trainer/data/token_file.hpp"

namespace trainward::fuzz {
namespace {

constexpr std::size_t seal_at = 192;

std::string sealed(std::string_view header) {
  const std::string body(header.substr(0, seal_at));
  return body + sha256_hex(body);
}

void check(std::string_view bytes, std::uint64_t file_size) {
  const auto header = trainer::parse_token_header(bytes, file_size);
  if (!header) {
    require(!header.error().what.empty(), "a refusal says why");
    return;
  }
  require(trainer::token_header_bytes + header->tokens * header->width == file_size,
          "the tokens fill the file");
  require(header->end_of_text < header->vocabulary, "the end of text is in the vocabulary");
  require(trainer::encode(*header) == bytes.substr(0, trainer::token_header_bytes),
          "what was accepted is written the same");
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward::fuzz;  // NOLINT(google-build-using-namespace)
  const std::string_view input = text_of(data, size);
  std::uint64_t file_size = 0;
  if (input.size() < sizeof file_size) return 0;
  std::memcpy(&file_size, input.data(), sizeof file_size);
  const std::string_view header = input.substr(sizeof file_size);
  check(header, file_size);
  check(sealed(header), file_size);
  return 0;
}
