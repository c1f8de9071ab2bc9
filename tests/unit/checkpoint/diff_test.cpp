// What two checkpoints differ in.
#include "checkpoint/tools/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "checkpoint/format/element_difference.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::flip;
using ::testing::HasSubstr;
using testing::Medium;
using testing::Sample;
using testing::ScratchFolder;
using Kind = TensorDifference::Kind;

class DiffTest : public ::testing::Test {
 protected:
  // Each in a root of its own, so that they may be of one step.
  fs::path add(Sample& sample, const SaveOptions& options = {}) {
    auto folder = save(scratch_.path() / std::to_string(++roots_), sample.contents(), options);
    EXPECT_TRUE(folder) << folder.error().message();
    return *folder;
  }
  Diff between(const fs::path& first, const fs::path& second) {
    auto found = diff(first, second);
    EXPECT_TRUE(found) << found.error().message();
    return found.value_or(Diff());
  }
  ScratchFolder scratch_{Medium::memory};
  int roots_ = 0;
};

template <typename T>
void put(TensorView& tensor, std::size_t i, T value) {
  auto* bytes = const_cast<std::byte*>(tensor.bytes.data());
  std::memcpy(bytes + i * sizeof value, &value, sizeof value);
}

TEST_F(DiffTest, TheSameInOtherFilesIsTheSame) {
  Sample sample(5);
  SaveOptions shards;
  shards.shard_bytes = 300;
  const Diff found = between(add(sample), add(sample, shards));
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(found.equal_tensors, 6U);
}

TEST_F(DiffTest, TensorsThatOnlyOneHasAndThoseOfAnotherForm) {
  Sample first(5);
  first.add_model("only.here", DType::u8, {3});
  first.add_model("form", DType::f32, {2, 3});
  first.add_optimizer("type", DType::f32, {4});
  Sample second(5);
  second.add_optimizer("only.there", DType::i64, {});
  second.add_model("form", DType::f32, {3, 2});
  second.add_optimizer("type", DType::i32, {4});
  const Diff found = between(add(first), add(second));
  ASSERT_EQ(found.tensors.size(), 4U);
  EXPECT_EQ(found.tensors[0].name, "form");
  EXPECT_EQ(found.tensors[0].kind, Kind::type_or_shape);
  EXPECT_EQ(found.tensors[1].name, "only.here");
  EXPECT_EQ(found.tensors[1].kind, Kind::only_in_first);
  EXPECT_FALSE(found.tensors[1].second);
  EXPECT_EQ(found.tensors[2].section, "optimizer");
  EXPECT_EQ(found.tensors[2].kind, Kind::only_in_second);
  EXPECT_EQ(found.tensors[3].kind, Kind::type_or_shape);
  EXPECT_EQ(found.equal_tensors, 6U);
}

TEST_F(DiffTest, CountsElementsAndMeasuresFloats) {
  Sample first(5);
  Sample second(5);
  for (Sample* sample : {&first, &second}) {
    auto& tensor = sample->add_model("x", DType::f32, {4});
    for (std::size_t i = 0; i < 4; ++i) put(tensor, i, 2.0F);
  }
  put(second.contents().model.back(), 1, 2.5F);
  put(second.contents().model.back(), 3, -2.0F);
  const Diff found = between(add(first), add(second));
  ASSERT_EQ(found.tensors.size(), 1U);
  EXPECT_EQ(found.tensors[0].kind, Kind::values);
  EXPECT_EQ(found.tensors[0].elements, 4U);
  EXPECT_EQ(found.tensors[0].differing, 2U);
  EXPECT_EQ(found.tensors[0].largest_absolute, 4.0);
  EXPECT_EQ(found.tensors[0].largest_relative, 2.0);
}

TEST_F(DiffTest, LargeTensorsAreReadInPortions) {
  Sample first(5);
  Sample second(5);
  constexpr std::int64_t elements = 2'000'001;  // more than two portions, and no multiple of one
  for (Sample* sample : {&first, &second}) {
    sample->contents().model.clear();
    sample->add_model("x", DType::i32, {elements});
  }
  // The generators stand alike again only when both made the same tensors.
  for (const std::int64_t i : {std::int64_t{0}, elements / 2, elements - 1}) {
    const auto at = static_cast<std::size_t>(i);
    put(first.contents().model.back(), at, 1);
    put(second.contents().model.back(), at, 2);
  }
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  IoOptions io;
  io.progress = [&](std::uint64_t done, std::uint64_t all) -> Status {
    EXPECT_GE(done, last);
    EXPECT_LE(done, all);
    last = done;
    total = all;
    return {};
  };
  const auto found = diff(add(first), add(second), io);
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->tensors.size(), 1U);
  EXPECT_EQ(found->tensors[0].differing, 3U);
  EXPECT_FALSE(found->tensors[0].largest_absolute) << "no float";
  EXPECT_EQ(last, total);
}

TEST_F(DiffTest, StateKeysThatDiffer) {
  Sample first(5);
  Sample second(6);
  second.contents().state.loss = std::numeric_limits<double>::quiet_NaN();
  second.contents().state.extra = {{"cursor", 17}, {"plan", "b"}};
  const Diff found = between(add(first), add(second));
  std::vector<std::string> keys;
  for (const StateDifference& one : found.state) keys.push_back(one.key);
  EXPECT_THAT(keys, ::testing::ElementsAre("extra.plan", "extra.rng", "loss", "step", "tokens"));
  EXPECT_TRUE(found.state[0].first.is_null());
  EXPECT_EQ(found.state[2].second, "nan");
  EXPECT_TRUE(found.tensors.empty());
}

TEST_F(DiffTest, DamageIsAnErrorAndNoDifference) {
  Sample sample(5);
  const fs::path good = add(sample);
  const fs::path bad = add(sample);
  flip(bad / "model.safetensors", 4200, 1);
  for (const auto& found : {diff(good, bad), diff(bad, good)}) {
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::corrupt);
    EXPECT_THAT(found.error().where, HasSubstr(bad.string()));
  }
  EXPECT_FALSE(diff(good, scratch_.path() / "none"));
}

TEST_F(DiffTest, EndsWhenItIsTold) {
  Sample sample(5);
  const fs::path folder = add(sample);
  IoOptions io;
  io.progress = [](std::uint64_t, std::uint64_t) -> Status {
    return fail(ErrorKind::transient, "enough");
  };
  const auto found = diff(folder, folder, io);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "enough");
}

template <typename T>
ElementDifference compared(DType type, std::vector<T> first, std::vector<T> second) {
  ElementDifference difference(type);
  difference.feed(std::as_bytes(std::span(first)), std::as_bytes(std::span(second)));
  return difference;
}

TEST(ElementDifference, EqualBitsAreEqualAndANaNIsFarFromEverythingElse) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compared<float>(DType::f32, {nan, infinite, 0}, {nan, infinite, 0}).differing(), 0U);
  for (const auto& [a, b] : {std::pair(nan, 1.0F), {infinite, 1.0F}, {infinite, -infinite}}) {
    const auto difference = compared<float>(DType::f32, {a}, {b});
    EXPECT_EQ(difference.differing(), 1U);
    EXPECT_TRUE(std::isinf(difference.largest_absolute()));
    EXPECT_TRUE(std::isinf(difference.largest_relative()));
  }
  const auto zeros = compared<double>(DType::f64, {0.0}, {-0.0});
  EXPECT_EQ(zeros.differing(), 1U);
  EXPECT_EQ(zeros.largest_absolute(), 0.0);
  EXPECT_EQ(zeros.largest_relative(), 0.0);
}

TEST(ElementDifference, PackedElementsAreCountedOneByOne) {
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(compared<std::uint8_t>(DType::f4, Bytes{0x12, 0x34}, Bytes{0x22, 0x43}).differing(),
            3U);
  // Four elements of six bits in three bytes; the second one reaches over a byte's end.
  EXPECT_EQ(
      compared<std::uint8_t>(DType::f6_e2m3, Bytes{0, 0, 0}, Bytes{0x40, 0x01, 0}).differing(), 1U);
  EXPECT_EQ(
      compared<std::uint8_t>(DType::f6_e3m2, Bytes{0, 0, 0}, Bytes{0xFF, 0xFF, 0xFF}).differing(),
      4U);
  EXPECT_EQ(compared<std::uint16_t>(DType::bf16, {0x3F80}, {0x4000}).largest_absolute(), 1.0);
  EXPECT_EQ(compared<std::uint16_t>(DType::f16, {0x3C00}, {0x4000}).largest_relative(), 0.5);
}

}  // namespace
}  // namespace trainward::checkpoint
