#include "checkpoint/format/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "checkpoint/format/block_hash.hpp"

namespace trainward::checkpoint {
namespace {

using ::testing::HasSubstr;

Manifest sample() {
  const std::string hash(32, 'a');
  return {12,
          34,
          2.5,
          1'700'000'000'000,
          {{"model.safetensors", 100, {hash}},
           {"optimizer.safetensors", block_bytes + 1, {hash, hash}},
           {"state.json", 0, {}}}};
}

// A text with any body and the checksum that belongs to it.
std::string sealed(std::string body) {
  const std::string checksum = hash_hex(body);
  return std::move(body) + "  \"checksum\": \"" + checksum + "\"\n}\n";
}

std::string with(std::string_view from, std::string_view to) {
  std::string text = encode(sample());
  text.resize(text.find("  \"checksum\""));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return sealed(text.replace(at, from.size(), to));
}

Error refusal(std::string_view text) {
  auto manifest = parse_manifest(text, "here");
  EXPECT_FALSE(manifest);
  return manifest ? Error{} : manifest.error();
}

TEST(Manifest, GoesRound) {
  const Manifest manifest = sample();
  auto back = parse_manifest(encode(manifest), "here");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->step, 12);
  EXPECT_EQ(back->tokens, 34);
  EXPECT_EQ(back->loss, 2.5);
  EXPECT_EQ(back->created_wall_ms, manifest.created_wall_ms);
  EXPECT_EQ(back->files, manifest.files);
  EXPECT_EQ(back->file_bytes(), 100 + block_bytes + 1);
  EXPECT_EQ(encode(*back), encode(manifest));
}

TEST(Manifest, KeepsALossThatIsNotANumber) {
  Manifest manifest = sample();
  manifest.loss = std::numeric_limits<double>::quiet_NaN();
  auto back = parse_manifest(encode(manifest), "here");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_TRUE(std::isnan(back->loss));
}

TEST(Manifest, EveryChangedByteIsFound) {
  const std::string text = encode(sample());
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const unsigned bit : {0U, 3U, 5U, 7U}) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << bit));
      EXPECT_FALSE(parse_manifest(damaged, "here")) << "byte " << at << " bit " << bit;
    }
    EXPECT_FALSE(parse_manifest(text.substr(0, at), "here")) << "cut at " << at;
  }
  EXPECT_FALSE(parse_manifest(text + "\n", "here"));
  EXPECT_FALSE(parse_manifest(" " + text, "here"));
}

TEST(Manifest, NamesOutsideTheFolderAreRefused) {
  for (const char* name :
       {"../state.json", "/etc/passwd", "a/b", "..", ".", "", "MANIFEST.json", "a\\u0000b"}) {
    EXPECT_THAT(refusal(with("\"state.json\"", std::string("\"") + name + "\"")).what,
                HasSubstr("plain name"))
        << name;
  }
}

TEST(Manifest, ImpossibleFieldsAreRefused) {
  const struct {
    std::string from, to, what;
  } cases[] = {
      {"\"size\": 100", "\"size\": -1", "do not fit"},
      {"\"size\": 100", "\"size\": 0", "do not fit"},
      {"\"size\": 100", "\"size\": 9223372036854775807", "do not fit"},
      {"\"size\": 100", "\"size\": 18446744073709551615", "size"},
      {"\"size\": 100", "\"size\": 1e2", "size"},
      {"aaaa\"]", "aaaA\"]", "hexadecimal"},
      {"\"model.safetensors\"", "\"optimizer.safetensors\"", "twice"},
      {"\"model.safetensors\"", "\"weights.safetensors\"", "holds neither 'model.safetensors'"},
      {"\"step\": 12", "\"step\": -12", "step"},
      {"\"step\": 12", "\"step\": \"12\"", "step"},
      {"\"step\": 12", "\"step\": 12, \"step\": 12", "twice"},
      {"\"files\": [", "\"files\": [5, ", "not an object"},
      {"trainward-checkpoint", "trainward-database", "format"},
  };
  for (const auto& [from, to, what] : cases) {
    const Error error = refusal(with(from, to));
    EXPECT_EQ(error.kind, ErrorKind::corrupt) << to;
    EXPECT_THAT(error.what, HasSubstr(what)) << to;
    EXPECT_EQ(error.where, "here");
  }
}

TEST(Manifest, ANewerVersionIsNotDamage) {
  const Error error = refusal(with("\"version\": 1", "\"version\": 2"));
  EXPECT_EQ(error.kind, ErrorKind::permanent);
  EXPECT_THAT(error.what, HasSubstr("version 2"));
  EXPECT_FALSE(error.hint.empty());
}

TEST(BlockHash, DoesNotDependOnThePortions) {
  std::string bytes(2 * block_bytes + 12345, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + i / 4099);
  BlockHasher hasher;
  const std::string_view view = bytes;
  for (std::size_t at = 0, size = 1; at < view.size();
       at += size, size = size * 3 % 1'000'003 + 1) {
    hasher.update(view.substr(at, size));
  }
  EXPECT_EQ(hasher.finish(), (std::vector{hash_hex(view.substr(0, block_bytes)),
                                          hash_hex(view.substr(block_bytes, block_bytes)),
                                          hash_hex(view.substr(2 * block_bytes))}));
  EXPECT_TRUE(BlockHasher().finish().empty());
  // Fixed, so that another machine's or version's file is read the same way.
  EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");
}

}  // namespace
}  // namespace trainward::checkpoint
