// What one architecture needs beside the sizes that all models have: a struct of its own.
//
// Kept as bytes, because ranks send a spec to each other as it lies in memory. Such a struct is
// trivial, has no padding (two equal ones have equal bytes) and takes at most `capacity`.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

namespace trainward::trainer {

class OwnPart {
 public:
  static constexpr std::size_t capacity = 128;

  [[nodiscard]] bool used() const { return used_ != 0; }
  // One with its defaults, as long as nothing was set.
  template <typename T>
  [[nodiscard]] T get() const {
    check<T>();
    T value;
    if (used()) std::memcpy(&value, bytes_.data(), sizeof(T));
    return value;
  }
  // Its own; its defaults, at first.
  template <typename T>
  T& edit() {
    const T value = get<T>();
    used_ = 1;
    // Copying bytes begins the object's life (C++20, [intro.object]).
    std::memcpy(bytes_.data(), &value, sizeof(T));
    return *std::launder(reinterpret_cast<T*>(bytes_.data()));
  }

  friend bool operator==(const OwnPart&, const OwnPart&) = default;

 private:
  template <typename T>
  static void check() {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= capacity);
  }

  alignas(std::max_align_t) std::array<std::byte, capacity> bytes_{};
  std::size_t used_ = 0;
};

}  // namespace trainward::trainer
