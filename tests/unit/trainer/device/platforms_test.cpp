// Names of devices as plugins give them.
#include "trainer/device/platforms.hpp"

#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

TEST(Peak, OfADeviceByItsName) {
  using graph::Precision;
  EXPECT_EQ(peak_flops("NVIDIA H100 80GB HBM3", Precision::bf16), 989e12);
  EXPECT_EQ(peak_flops("NVIDIA H100 PCIe", Precision::bf16), 756e12);
  EXPECT_EQ(peak_flops("NVIDIA H100 80GB HBM3", Precision::f32), 67e12);
  EXPECT_EQ(peak_flops("NVIDIA H200", Precision::bf16), 989e12);
  EXPECT_EQ(peak_flops("NVIDIA A100-SXM4-80GB", Precision::f32), 19.5e12);
  EXPECT_EQ(peak_flops("NVIDIA L40S", Precision::bf16), 362e12);
  EXPECT_EQ(peak_flops("NVIDIA L4", Precision::bf16), 121e12);
  EXPECT_EQ(peak_flops("TPU v5 lite", Precision::bf16), 197e12);
}

TEST(Peak, OfWhatIsNotKnownIsNotGuessed) {
  using graph::Precision;
  for (const char* kind : {"", "cpu", "sim_n300", "NVIDIA L400", "NVIDIA A1000", "XL4"}) {
    EXPECT_FALSE(peak_flops(kind, Precision::bf16)) << kind;
  }
  EXPECT_FALSE(peak_flops("TPU v4", Precision::f32));
}

}  // namespace
}  // namespace trainward::trainer
