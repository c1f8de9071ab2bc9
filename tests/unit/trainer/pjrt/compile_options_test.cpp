#include "trainer/pjrt/compile_options.hpp"

#include <gtest/gtest.h>

namespace trainward::pjrt {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

// What XLA's plugins are known to take.
TEST(CompileOptions, OneReplicaIsTheKnownMinimum) {
  EXPECT_EQ(compile_options(1), bytes({0x1A, 0x0F, 0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                       0xFF, 0xFF, 0x01, 0x20, 0x01, 0x28, 0x01}));
}

TEST(CompileOptions, SeveralReplicasNameTheirDevices) {
  EXPECT_EQ(compile_options(2),
            bytes({0x1A, 0x1B,                                                        // field 3
                   0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01,  // ordinal -1
                   0x20, 0x02,                                                        // replicas
                   0x28, 0x01,                                                        // partitions
                   0x4A, 0x0A,                             // device_assignment
                   0x08, 0x02, 0x10, 0x01,                 // 2 replicas, 1 computation
                   0x1A, 0x04, 0x0A, 0x02, 0x00, 0x01}));  // devices 0 and 1
}

TEST(CompileOptions, LengthsAndNumbersOverOneByte) {
  const std::string many = compile_options(200);
  // The length of field 3, then the number of replicas, take two bytes each.
  EXPECT_EQ(static_cast<unsigned char>(many[1]) & 0x80U, 0x80U);
  const auto length = (static_cast<unsigned char>(many[1]) & 0x7FU) |
                      static_cast<unsigned>(static_cast<unsigned char>(many[2])) << 7U;
  EXPECT_EQ(length + 3, many.size());
  EXPECT_NE(many.find(bytes({0x20, 0xC8, 0x01, 0x28, 0x01})), std::string::npos);
}

}  // namespace
}  // namespace trainward::pjrt
