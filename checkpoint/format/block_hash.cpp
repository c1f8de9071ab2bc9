#include "checkpoint/format/block_hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <new>

namespace trainward::checkpoint {
namespace {

std::string hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

struct BlockHasher::State {
  // XXH3_createState aligns to 64 bytes, as the vector code needs.
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash{XXH3_createState(), XXH3_freeState};
  std::uint64_t in_block = 0;
  std::vector<std::string> blocks;
};

BlockHasher::BlockHasher() : state_(std::make_unique<State>()) {
  if (!state_->hash || XXH3_128bits_reset(state_->hash.get()) != XXH_OK) throw std::bad_alloc();
}
BlockHasher::BlockHasher(BlockHasher&&) noexcept = default;
BlockHasher& BlockHasher::operator=(BlockHasher&&) noexcept = default;
BlockHasher::~BlockHasher() = default;

void BlockHasher::update(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto portion = static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes.size(), block_bytes - state_->in_block));
    XXH3_128bits_update(state_->hash.get(), bytes.data(), portion);
    state_->in_block += portion;
    bytes.remove_prefix(portion);
    if (state_->in_block == block_bytes) close_block();
  }
}

std::vector<std::string> BlockHasher::finish() {
  if (state_->in_block > 0) close_block();
  return std::move(state_->blocks);
}

void BlockHasher::close_block() {
  state_->blocks.push_back(hex(XXH3_128bits_digest(state_->hash.get())));
  XXH3_128bits_reset(state_->hash.get());
  state_->in_block = 0;
}

std::string hash_hex(std::string_view bytes) {
  return hex(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace trainward::checkpoint
