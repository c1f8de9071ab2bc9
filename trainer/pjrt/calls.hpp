// Calls into a plugin's table: which exist, how large their structs are said to be, what they
// failed with. Value type; holds a copy of the table, which outlives everything (a plugin is never
// closed).
//
// Sizes. A plugin refuses a struct that is smaller than the one it was built with, so it is told
// the size of ours; a plugin newer than our declarations is told more and given zeros after our
// last field, which every later field takes as "not given". A plugin older than ours leaves the
// answers it does not know as they were: zero.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "trainer/pjrt/abi.hpp"
#include "trainer/pjrt/device_error.hpp"

namespace trainward::pjrt {

// A struct for a plugin, with zeros after it for fields that only newer plugins know.
template <typename T>
struct Padded {
  T value{};
  std::array<std::byte, 128> spare{};
};

class Calls {
 public:
  // `api` is at least as long as its struct_size says.
  explicit Calls(const abi::Api& api);

  // The size to put into the first field of a Padded<T>.
  template <typename T>
  [[nodiscard]] std::size_t size_of() const {
    return newer_ ? sizeof(Padded<T>) : sizeof(T);
  }

  // Makes the call; `args` holds its answers afterwards. A call that the plugin does not have is
  // `unimplemented`. Whatever error the plugin makes is read and destroyed.
  template <typename Args>
  Outcome<void> make(abi::Call<Args> abi::Api::*entry, const char* name, Args& args) const {
    if (table_.*entry == nullptr) return refuse_absent(name);
    Padded<Args> padded{args, {}};
    padded.value.struct_size = size_of<Args>();
    abi::Error* error = (table_.*entry)(&padded.value);
    args = padded.value;
    if (error != nullptr) return take(error, name);
    return {};
  }

  template <typename Args>
  [[nodiscard]] bool has(abi::Call<Args> abi::Api::*entry) const {
    return table_.*entry != nullptr;
  }

  // Waits for the event and destroys it, whatever came of it. Null: nothing to wait for.
  Outcome<void> await(abi::Event* event, const char* name) const;
  void destroy(abi::Event* event) const;
  void destroy(abi::Error* error) const;  // that a callback was given

 private:
  static tl::unexpected<DeviceError> refuse_absent(const char* name);
  [[nodiscard]] tl::unexpected<DeviceError> take(abi::Error* error, const char* name) const;
  [[nodiscard]] ErrorCode code_of(abi::Error* error) const;
  [[nodiscard]] std::string text_of(abi::Error* error) const;

  abi::Api table_{};  // zero where the plugin's own ends
  bool newer_ = false;
};

}  // namespace trainward::pjrt
