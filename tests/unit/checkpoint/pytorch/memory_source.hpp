// Bytes in memory as what a parser reads from.
#pragma once

#include <cstring>

#include "checkpoint/pytorch/pickle/byte_source.hpp"

namespace trainward::checkpoint::pytorch {

class MemorySource final : public ByteSource {
 public:
  // Borrows the bytes.
  MemorySource(std::span<const std::byte> bytes, std::string where)
      : bytes_(bytes), where_(std::move(where)) {}

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] const std::string& where() const override { return where_; }

  [[nodiscard]] Status read(std::uint64_t at, std::span<std::byte> into) const override {
    if (at > bytes_.size() || into.size() > bytes_.size() - at) {
      return corrupt_at(*this, bytes_.size(), "the data ends here, inside what it announces");
    }
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + at, into.size());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
  std::string where_;
};

inline SharedSource source_in_memory(std::span<const std::byte> bytes, std::string where) {
  return std::make_shared<MemorySource>(bytes, std::move(where));
}

}  // namespace trainward::checkpoint::pytorch
