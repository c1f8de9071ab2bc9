#include "trainer/n300_sim/kernel_cache.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "common/os/file.hpp"
#include "temporary_folder.hpp"
#include "trainer/n300_sim/device_text.hpp"

namespace trainward::n300 {
namespace {

class KernelCacheTest : public ::testing::Test {
 protected:
  TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
  KernelCache::Kernel kernel_{"block_forward", "module @block_forward", {"add", "dot_general"}};
};

TEST_F(KernelCacheTest, AKernelIsThereOnceCompiled) {
  const KernelCache cache(folder_);
  EXPECT_FALSE(cache.has(kernel_).value());
  int operations = 0;
  ASSERT_TRUE(cache.compile(kernel_, [&] {
    ++operations;
    EXPECT_FALSE(cache.has(kernel_).value()) << "half a kernel has no name yet";
  }));
  EXPECT_EQ(operations, 2);
  EXPECT_TRUE(cache.has(kernel_).value());
  KernelCache::Kernel other = kernel_;
  other.text = "module @block_forward ";
  EXPECT_FALSE(cache.has(other).value());
  EXPECT_TRUE(cache.file_of(kernel_).string().starts_with(
      (folder_ / "tt-metal-cache" / "4098" / "kernels" / "block_forward").string()));
}

TEST_F(KernelCacheTest, AnythingElseInItsPlaceIsCorrupt) {
  const KernelCache cache(folder_);
  ASSERT_TRUE(cache.compile(kernel_, [] {}));
  const std::filesystem::path file = cache.file_of(kernel_);
  const std::string whole = read_file(file, 1 << 20).value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, size);
    const auto found = cache.has(kernel_);
    ASSERT_FALSE(found) << size << " bytes";
    EXPECT_EQ(found.error().kind, ErrorKind::corrupt);
    EXPECT_EQ(found.error().where, file.string());
  }
  ASSERT_TRUE(cache.compile(kernel_, [] {}));
  EXPECT_TRUE(cache.has(kernel_).value());
  ASSERT_TRUE(cache.damage(kernel_));
  EXPECT_FALSE(cache.has(kernel_));
  std::filesystem::remove_all(folder_ / "tt-metal-cache");
  EXPECT_FALSE(cache.has(kernel_).value()) << "purged";
}

TEST_F(KernelCacheTest, AFolderThatCannotBeWrittenIsAnError) {
  std::ofstream(folder_ / "tt-metal-cache") << "a file";
  const KernelCache cache(folder_);
  EXPECT_FALSE(cache.compile(kernel_, [] {}));
  EXPECT_FALSE(cache.damage(kernel_));
}

TEST(DeviceText, NamesTheFileThatCannotBeRead) {
  EXPECT_NE(kernel_unreadable_report("/c/tt-metal-cache/a.elf", "Invalid argument")
                .find("/c/tt-metal-cache/a.elf: cannot map elf file into memory: Invalid argument"),
            std::string::npos);
}

}  // namespace
}  // namespace trainward::n300
