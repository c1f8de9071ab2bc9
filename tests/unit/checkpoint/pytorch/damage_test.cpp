// Whatever is wrong with a file, there is an error or a whole result, never a crash.
#include <gmock/gmock.h>

#include <random>

#include "checkpoint/pytorch/import.hpp"
#include "tests/unit/checkpoint/pytorch/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

// Everything that an import does except writing; true when it ended well.
bool import_all(const std::string& bytes) {
  auto inspected = inspect_pytorch(memory(bytes));
  if (!inspected) {
    EXPECT_FALSE(inspected.error().what.empty());
    EXPECT_EQ(inspected.error().where, "sample.pt");
    return false;
  }
  for (const auto* list : {&inspected->contents.model, &inspected->contents.optimizer}) {
    for (const TensorSource& source : *list) {
      const auto size = byte_count(source.info);
      EXPECT_TRUE(size);
      std::vector<std::byte> all(std::min<std::uint64_t>(size.value_or(0), 1U << 20U));
      if (!source.read(0, all)) return false;
    }
  }
  return true;
}

class Damage : public ::testing::TestWithParam<Layout> {};

TEST_P(Damage, AFileCutAtAnyByteIsRefused) {
  const std::string whole = sample(GetParam());
  ASSERT_TRUE(import_all(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(import_all(whole.substr(0, size))) << "cut to " << size << " of " << whole.size();
  }
}

TEST_P(Damage, AnAppendedByteIsRefused) { EXPECT_FALSE(import_all(sample(GetParam()) + '\0')); }

TEST_P(Damage, RandomChangesDoNoHarm) {
  const std::string whole = sample(GetParam());
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = whole;
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 4);
          break;
        case 2:
          bytes.insert(at, 1 + random() % 4, static_cast<char>(random()));
          break;
        default:
          bytes[at] =
              static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << random() % 8));
      }
      if (bytes.empty()) bytes = "x";
    }
    if (!import_all(bytes)) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

// In the zip every bit of the data is covered by a checksum.
TEST(DamageOfAZip, EveryFlippedBitOfTheDataIsFound) {
  const std::string whole = sample(Layout::zip);
  auto opened = open_archive(memory(whole));
  ASSERT_TRUE(opened);
  for (const Place& place : opened->places) {
    for (std::uint64_t at = place.begin; at < place.begin + place.bytes; ++at) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << at % 8));
      EXPECT_FALSE(import_all(bytes));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Damage, ::testing::Values(Layout::legacy, Layout::zip),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param));
                         });

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
