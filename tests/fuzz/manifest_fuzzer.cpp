// MANIFEST.json. The input is read as it is, and once more with its seal put right: a checksum that
// has to match by chance would keep everything behind it out of reach.
#include <string>

#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/format/manifest.hpp"
#include "require.hpp"

namespace trainward::fuzz {
namespace {

constexpr std::string_view seal_begin = "  \"checksum\": \"";

std::string sealed(std::string_view text) {
  std::string body(text.substr(0, text.rfind(seal_begin)));
  const std::string checksum = checkpoint::hash_hex(body);
  return std::move(body.append(seal_begin).append(checksum).append("\"\n}\n"));
}

void check(std::string_view text) {
  const auto manifest = checkpoint::parse_manifest(text, "input");
  if (!manifest) {
    require(!manifest.error().what.empty(), "a refusal says why");
    return;
  }
  const std::string written = checkpoint::encode(*manifest);
  const auto again = checkpoint::parse_manifest(written, "encoded");
  require(again.has_value(), "what was accepted can be written and read again");
  // As text: a loss that is no number is not equal to itself.
  require(checkpoint::encode(*again) == written, "and says the same");
  require(again->files == manifest->files, "about every file");
  for (const checkpoint::FileEntry& file : manifest->files) {
    require(manifest->find(file.name) == &file, "no file is listed twice");
  }
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = trainward::fuzz::text_of(data, size);
  trainward::fuzz::check(input);
  trainward::fuzz::check(trainward::fuzz::sealed(input));
  return 0;
}
