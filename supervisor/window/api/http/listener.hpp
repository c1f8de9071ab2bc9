// Somebody who waits for a value, and may leave before it comes.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

namespace trainward::api {

// Called at most once, on the loop's thread, at once or later. When the asker has gone the call
// does nothing, and wanted() tells the code that is still working on the answer.
template <typename Value>
class Listener {
 public:
  template <typename Tell>
  requires(!std::same_as<std::remove_cvref_t<Tell>, Listener> && std::invocable<const Tell&, Value>)
      Listener(Tell tell)  // NOLINT: any function is one, who always waits
      : tell_(std::move(tell)) {}
  Listener(std::function<void(Value)> tell, std::function<bool()> wanted)
      : tell_(std::move(tell)), wanted_(std::move(wanted)) {}

  void operator()(Value value) const { tell_(std::move(value)); }
  [[nodiscard]] bool wanted() const { return !wanted_ || wanted_(); }

 private:
  std::function<void(Value)> tell_;
  std::function<bool()> wanted_;
};

}  // namespace trainward::api
