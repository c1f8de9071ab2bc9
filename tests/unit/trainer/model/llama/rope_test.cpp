// Rotary positions against values of 40 digits (tests/reference/llama/golden.py), and against
// digits that others have published.
#include "trainer/model/llama/rope.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "common/os/json_file.hpp"

namespace trainward::trainer {
namespace {

json::array golden() {
  auto file = read_json_file(GOLDEN, std::size_t{1} << 20);
  EXPECT_TRUE(file) << file.error().message();
  return file ? file->as_array() : json::array{};
}

RopeSpec rope_of(const json::object& golden) {
  RopeSpec rope;
  rope.theta = golden.at("theta").to_number<double>();
  if (golden.at("scaling").is_null()) return rope;
  const json::object& scaling = golden.at("scaling").as_object();
  rope.factor = scaling.at("factor").to_number<double>();
  rope.scaling = RopeSpec::Scaling::linear;
  if (scaling.at("rope_type") == "linear") return rope;
  rope.scaling = RopeSpec::Scaling::llama3;
  rope.low = scaling.at("low_freq_factor").to_number<double>();
  rope.high = scaling.at("high_freq_factor").to_number<double>();
  rope.original_positions =
      scaling.at("original_max_position_embeddings").to_number<std::int64_t>();
  return rope;
}

std::vector<double> numbers(const json::value& list) {
  std::vector<double> all;
  for (const json::value& each : list.as_array()) all.push_back(each.to_number<double>());
  return all;
}

TEST(Rope, FrequenciesAreThoseOfFortyDigits) {
  const json::array cases = golden();
  EXPECT_EQ(cases.size(), 6U);
  for (const json::value& value : cases) {
    const json::object& each = value.as_object();
    SCOPED_TRACE(std::string(each.at("name").as_string()));
    const std::vector<double> expected = numbers(each.at("inverse"));
    const auto got = rope_frequencies(rope_of(each), each.at("width").to_number<std::int64_t>());
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i] / expected[i], 1, 1e-14) << i;
  }
}

// Tables up to the last position that is known, 8191, where an angle computed in f32 would be off
// by half a thousandth.
TEST(Rope, TablesAreThoseOfFortyDigits) {
  for (const json::value& value : golden()) {
    const json::object& each = value.as_object();
    SCOPED_TRACE(std::string(each.at("name").as_string()));
    const auto width = each.at("width").to_number<std::int64_t>();
    const auto half = static_cast<std::size_t>(width / 2);
    std::vector<float> cosines(8192 * half);
    std::vector<float> sines(8192 * half);
    fill_rope(RopeTable::cosines, rope_of(each), width, cosines);
    fill_rope(RopeTable::sines, rope_of(each), width, sines);
    for (const json::value& angles : each.at("angles").as_array()) {
      const auto row = angles.at("position").to_number<std::size_t>() * half;
      const std::vector<double> cos = numbers(angles.at("cos"));
      const std::vector<double> sin = numbers(angles.at("sin"));
      ASSERT_EQ(cos.size(), half);
      for (std::size_t i = 0; i < half; ++i) {
        EXPECT_NEAR(cosines[row + i], cos[i], 6e-8) << i;
        EXPECT_NEAR(sines[row + i], sin[i], 6e-8) << i;
      }
    }
    for (std::size_t i = 0; i < half; ++i) {
      EXPECT_EQ(cosines[i], 1);
      EXPECT_EQ(sines[i], 0);
    }
  }
}

// Llama-3.2-1B: short waves are kept, long ones divided by 32, and two lie between.
TEST(Rope, Llama32IsStretchedAsPublished) {
  const RopeSpec rope{RopeSpec::Scaling::llama3, 500000, 32, 1, 4, 8192};
  const std::vector<double> got = rope_frequencies(rope, 64);
  const std::vector<double> plain = rope_frequencies({.theta = 500000}, 64);
  EXPECT_NEAR(plain[15], 0.0021311195369120, 1e-15);
  EXPECT_NEAR(got[14], 0.0032114459947525, 1e-15);
  EXPECT_NEAR(got[15], 0.0012905479282093, 1e-15);
  EXPECT_NEAR(got[16], 0.00042955679655937, 1e-16);
  EXPECT_NEAR(got[17], 0.0000970828780262767, 1e-18);
  EXPECT_NEAR(got[31], 9.41830672543491e-8, 1e-21);
  for (std::size_t i = 0; i <= 14; ++i) EXPECT_EQ(got[i], plain[i]) << i;
  for (std::size_t i = 18; i < 32; ++i) EXPECT_DOUBLE_EQ(got[i], plain[i] / 32) << i;
}

}  // namespace
}  // namespace trainward::trainer
