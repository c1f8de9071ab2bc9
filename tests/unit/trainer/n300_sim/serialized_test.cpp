#include "trainer/n300_sim/serialized.hpp"

#include <gtest/gtest.h>

namespace trainward::n300 {
namespace {

TEST(Serialized, ComesBackAsItWas) {
  for (const std::string& text :
       {std::string(), std::string("module @a {}"), std::string(3, '\0')}) {
    const std::string bytes = seal_program(text);
    const auto opened = open_program(bytes);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(*opened, text);
  }
}

TEST(Serialized, EveryChangedOrMissingByteIsNoticed) {
  const std::string bytes = seal_program("module @a {}");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const auto opened = open_program(changed);
    ASSERT_FALSE(opened) << "byte " << i;
    EXPECT_EQ(opened.error().kind, ErrorKind::corrupt);
    EXPECT_FALSE(open_program(std::string_view(bytes).substr(0, i))) << i << " bytes";
  }
  EXPECT_FALSE(open_program(bytes + "x"));
  EXPECT_FALSE(open_program("TTSERv00"));
}

}  // namespace
}  // namespace trainward::n300
