// Bytes of tensors: contiguous, strided, in any portions.
#include "checkpoint/pytorch/tensor_reader.hpp"

#include <gmock/gmock.h>

#include "tests/unit/checkpoint/pytorch/support.hpp"

namespace trainward::checkpoint::pytorch::testing {
namespace {

std::string bytes_of(const TensorText& values, std::size_t portion) {
  std::string storage;
  for (std::uint32_t i = 0; i < values.elements; ++i) storage += little(0x01010100U * i + i, 4);
  const std::string file = raw_zip({{.name = "m/data.pkl", .data = pickle(tensor(values))},
                                    {.name = "m/data/0", .data = storage}});
  auto opened = open_archive(memory(file));
  EXPECT_TRUE(opened) << opened.error().message();
  TensorReader reader(*opened);
  const Tensor& tensor = opened->tree.tensors.at(0);
  std::string all(*byte_count({{}, tensor.dtype, tensor.shape}), '\0');
  for (std::size_t at = 0; at < all.size(); at += portion) {
    const auto part = std::as_writable_bytes(std::span(all)).subspan(at);
    const auto ok = reader.read(tensor, at, part.first(std::min(portion, part.size())));
    EXPECT_TRUE(ok) << ok.error().message();
  }
  return all;
}

std::string elements(const std::vector<std::uint32_t>& numbers) {
  std::string out;
  for (const std::uint32_t i : numbers) out += little(0x01010100U * i + i, 4);
  return out;
}

TEST(TensorReader, FollowsStridesInAnyPortions) {
  for (const std::size_t portion : {1U, 3U, 4U, 7U, 16U, 1000U}) {
    EXPECT_EQ(bytes_of({.elements = 6, .offset = 0, .shape = {2, 3}, .stride = {3, 1}}, portion),
              elements({0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(bytes_of({.elements = 6, .offset = 0, .shape = {3, 2}, .stride = {1, 3}}, portion),
              elements({0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(
        bytes_of({.elements = 20, .offset = 1, .shape = {2, 2, 2}, .stride = {10, 4, 1}}, portion),
        elements({1, 2, 5, 6, 11, 12, 15, 16}));
    EXPECT_EQ(bytes_of({.elements = 4, .offset = 2, .shape = {3, 2}, .stride = {0, 1}}, portion),
              elements({2, 3, 2, 3, 2, 3}));
    EXPECT_EQ(bytes_of({.elements = 4, .offset = 3, .shape = {}, .stride = {}}, portion),
              elements({3}));
    EXPECT_EQ(bytes_of({.elements = 4, .offset = 3, .shape = {1, 1}, .stride = {7, 9}}, portion),
              elements({3}));
    EXPECT_EQ(bytes_of({.elements = 4, .offset = 4, .shape = {0, 5}, .stride = {5, 1}}, portion),
              "");
  }
}

TEST(TensorReader, AsksForNoMoreThanThereIs) {
  const std::string file = raw_zip({{.name = "m/data.pkl", .data = pickle(tensor({}))},
                                    {.name = "m/data/0", .data = std::string(16, 'x')}});
  auto opened = open_archive(memory(file));
  ASSERT_TRUE(opened);
  TensorReader reader(*opened);
  std::vector<std::byte> into(17);
  EXPECT_FALSE(reader.read(opened->tree.tensors[0], 0, into));
  EXPECT_FALSE(reader.read(opened->tree.tensors[0], 17, {}));
  EXPECT_FALSE(reader.read(opened->tree.tensors[0], UINT64_MAX, std::span(into).first(2)));
}

}  // namespace
}  // namespace trainward::checkpoint::pytorch::testing
