#include "support.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "checkpoint/format/safetensors.hpp"

namespace trainward::checkpoint::testing {
namespace fs = std::filesystem;

namespace {

fs::path place(Medium medium) {
  const fs::path memory = "/dev/shm";
  const bool in_memory = medium == Medium::memory && ::access(memory.c_str(), W_OK | X_OK) == 0;
  return in_memory ? memory : fs::temp_directory_path();
}

}  // namespace

ScratchFolder::ScratchFolder(Medium medium) : TemporaryFolder(place(medium)) {}

Sample::Sample(std::int64_t step, std::uint64_t seed) : random_(seed) {
  contents_.state.step = step;
  contents_.state.tokens = step * 1000;
  contents_.state.loss = 2.5;
  contents_.state.run = "sample";
  contents_.state.config_digest = "c0ffee";
  contents_.state.extra = {{"cursor", 17}, {"rng", {1, 2, 3}}};
  add_model("embed.weight", DType::bf16, {17, 8});
  add_model("block.0.attn", DType::f32, {8, 9});
  add_model("scale", DType::f32, {});
  add_optimizer("embed.weight.m", DType::f32, {17, 8});
  add_optimizer("embed.weight.v", DType::f32, {17, 8});
  add_optimizer("count", DType::i64, {1});
}

TensorView& Sample::add_model(std::string name, DType type, std::vector<std::int64_t> shape) {
  return contents_.model.emplace_back(make(std::move(name), type, std::move(shape)));
}

TensorView& Sample::add_optimizer(std::string name, DType type, std::vector<std::int64_t> shape) {
  return contents_.optimizer.emplace_back(make(std::move(name), type, std::move(shape)));
}

TensorView Sample::make(std::string name, DType type, std::vector<std::int64_t> shape) {
  TensorInfo info{std::move(name), type, std::move(shape)};
  std::vector<std::byte>& bytes = storage_.emplace_back(byte_count(info).value());
  fill_with_noise(bytes, random_);
  return {std::move(info), bytes};
}

void fill_with_noise(std::span<std::byte> bytes, std::mt19937_64& random) {
  // Megabytes of random numbers take longer than the tests that want them: from here on each block
  // repeats the first but for a number of its own.
  constexpr std::size_t block = 64U << 10U;
  std::span<std::byte> first = bytes.first(std::min(block, bytes.size()));
  for (std::span<std::byte> rest = first; !rest.empty();) {
    const std::uint64_t number = random();
    const std::size_t size = std::min(rest.size(), sizeof number);
    std::memcpy(rest.data(), &number, size);
    rest = rest.subspan(size);
  }
  for (std::size_t at = block; at < bytes.size(); at += block) {
    const std::span<std::byte> next = bytes.subspan(at, std::min(block, bytes.size() - at));
    std::memcpy(next.data(), first.data(), next.size());
    const std::uint64_t number = random();
    std::memcpy(next.data(), &number, std::min(next.size(), sizeof number));
  }
}

std::string read_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::string bytes(fs::file_size(file), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

void write_bytes(const fs::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

void flip(const fs::path& file, std::uint64_t at, unsigned char mask) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  unsigned char byte = 0;
  const auto offset = static_cast<off_t>(at);
  bool ok = fd >= 0 && ::pread(fd, &byte, 1, offset) == 1;
  byte ^= mask;
  ok = ok && ::pwrite(fd, &byte, 1, offset) == 1;
  if (fd >= 0) ::close(fd);
  if (!ok) throw std::runtime_error("cannot flip a byte of " + file.string());
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace trainward::checkpoint::testing
