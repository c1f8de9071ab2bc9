// What the tests of checkpoint/ share: a folder that vanishes, sample tensors, damaged files.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "temporary_folder.hpp"

namespace trainward::checkpoint::testing {

// Most tests need no disk, only a file system; one in memory takes a hundredth of the time.
enum class Medium { disk, memory };

class ScratchFolder : public TemporaryFolder {
 public:
  explicit ScratchFolder(Medium medium = Medium::disk);
};

// Owns the bytes that the views of `contents()` point to.
class Sample {
 public:
  // The values depend on the seed only.
  explicit Sample(std::int64_t step, std::uint64_t seed = 1);
  TensorView& add_model(std::string name, DType type, std::vector<std::int64_t> shape);
  TensorView& add_optimizer(std::string name, DType type, std::vector<std::int64_t> shape);
  Contents& contents() { return contents_; }

 private:
  TensorView make(std::string name, DType type, std::vector<std::int64_t> shape);
  std::mt19937_64 random_;
  std::deque<std::vector<std::byte>> storage_;
  Contents contents_;
};

void fill_with_noise(std::span<std::byte> bytes, std::mt19937_64& random);

std::string read_bytes(const std::filesystem::path& file);
void write_bytes(const std::filesystem::path& file, std::string_view bytes);
void flip(const std::filesystem::path& file, std::uint64_t at, unsigned char mask);

// Names in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace trainward::checkpoint::testing
