// A compiled program, loaded onto the first devices of its client.
//
// Made by Client::compile and Client::load; destroyed with this object, on the client's thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/pjrt/buffer.hpp"
#include "trainer/pjrt/completion.hpp"

namespace trainward::pjrt {

class Executable {
 public:
  // Takes what a plugin has made.
  static Outcome<Executable> take(const std::shared_ptr<Session>& session,
                                  abi::LoadedExecutable* loaded, std::int64_t replicas);

  // What Client::load takes, of the same plugin and kind of device; unimplemented where the plugin
  // has no such thing.
  [[nodiscard]] Outcome<std::string> serialize() const;

  [[nodiscard]] std::size_t output_count() const { return outputs_; }
  [[nodiscard]] std::int64_t replicas() const { return replicas_; }

  // Runs it once on all its devices. arguments[device][k] are borrowed; results[device][k] may
  // still be computed when this returns. Arguments that the program takes over (tf.aliasing_output)
  // hold nothing afterwards where the plugin honours that; their owner destroys them as all others.
  // `completion`, where it is not null, is when it ends on each device, where the plugin says that.
  [[nodiscard]] Outcome<std::vector<std::vector<Buffer>>> run(
      std::span<const std::vector<const Buffer*>> arguments,
      std::optional<Completion>* completion = nullptr) const;

 private:
  Executable(Handle<abi::LoadedExecutable> loaded, Handle<abi::Executable> description,
             std::size_t outputs, std::int64_t replicas)
      : loaded_(std::move(loaded)),
        description_(std::move(description)),
        outputs_(outputs),
        replicas_(replicas) {}

  [[nodiscard]] Outcome<void> check(std::span<const std::vector<const Buffer*>> arguments) const;

  Handle<abi::LoadedExecutable> loaded_;
  Handle<abi::Executable> description_;
  std::size_t outputs_ = 0;
  std::int64_t replicas_ = 1;
};

// The bytes of an executable that is not, or not yet, loaded.
Outcome<std::string> serialize(const Calls& calls, const abi::Executable* executable);

}  // namespace trainward::pjrt
