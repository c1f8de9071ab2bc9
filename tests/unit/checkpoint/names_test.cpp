#include "checkpoint/format/names.hpp"

#include <gtest/gtest.h>

#include "checkpoint/format/tensor.hpp"

namespace trainward::checkpoint {
namespace {

TEST(Names, StepsGoRoundAndNothingElseIsAStep) {
  EXPECT_EQ(step_name(1234), "step-00001234");
  for (const std::int64_t step : {0L, 7L, 99999999L, 100000000L, INT64_MAX}) {
    EXPECT_EQ(step_from_name(step_name(step)), step);
  }
  for (const char* name :
       {"", "step-", "step-1", "step-000000001", "step--0000001", "step-0000000x", "step-00000001 ",
        "Step-00000001", "step-99999999999999999999", ".tmp-step-00000001", "step-+0000001"}) {
    EXPECT_FALSE(step_from_name(name)) << name;
  }
}

TEST(Names, PlainNamesStayInTheirFolder) {
  EXPECT_TRUE(is_plain_name("model.safetensors"));
  EXPECT_TRUE(is_plain_name("..a"));
  using namespace std::string_view_literals;
  for (const std::string_view name :
       {""sv, "."sv, ".."sv, "a/b"sv, "/etc/passwd"sv, "../x"sv, "a\\b"sv, "a\0b"sv, "a\nb"sv}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
  }
  EXPECT_FALSE(is_plain_name(std::string(256, 'a')));
}

TEST(Names, LastComponentIgnoresTheSlashAtTheEnd) {
  EXPECT_EQ(last_component("a/step-00000001"), "step-00000001");
  EXPECT_EQ(last_component("a/step-00000001/"), "step-00000001");
  EXPECT_EQ(last_component("a/./b/../step-00000001//"), "step-00000001");
}

TEST(DTypes, NamesGoRound) {
  EXPECT_EQ(to_string(DType::bf16), "BF16");
  EXPECT_EQ(bits_of(DType::f64), 64U);
  EXPECT_EQ(bits_of(DType::boolean), 8U);
  for (int i = 0; i <= static_cast<int>(DType::u64); ++i) {
    EXPECT_EQ(dtype_from(to_string(static_cast<DType>(i))), static_cast<DType>(i));
  }
  EXPECT_FALSE(dtype_from("F5"));
  EXPECT_FALSE(dtype_from("f32"));
}

}  // namespace
}  // namespace trainward::checkpoint
