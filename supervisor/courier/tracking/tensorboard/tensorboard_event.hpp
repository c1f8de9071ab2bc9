// The events of one of TensorBoard's files, as its records. Pure.
//
// A file begins with its version and a START of the attempt it belongs to; then an event a step,
// with all that is known of that step. What kind of thing a tag is, is said with its first value in
// the file, and need not be said again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"

namespace trainward::tracking {

struct Scalar {
  std::string tag;
  double value = 0;  // may be no number
};

struct Text {
  std::string tag;
  std::string markdown;
};

struct Event {
  std::int64_t step = 0;
  std::int64_t at_ms = 0;  // wall
  std::vector<Scalar> scalars = {};
  std::vector<Text> texts = {};
};

class EventFile {
 public:
  // Appends records to what take() gives.
  void version(std::int64_t at_ms);
  // Whatever was shown of `step` and later ones is done again from here on.
  void start(std::int64_t at_ms, std::int64_t step);
  void add(const Event& event);
  // What the run was told. Texts, numbers and flags are taken, other values are left out.
  void hparams(std::int64_t at_ms, std::int64_t step, std::string_view group,
               const json::object& values);
  // How it ended.
  void hparams_end(std::int64_t at_ms, std::int64_t step, bool succeeded);

  // The attempt is over, and nothing comes behind this.
  void stop(std::int64_t at_ms, std::int64_t step);

  // What was added since.
  std::string take();
  [[nodiscard]] std::size_t pending_bytes() const { return records_.size(); }

 private:
  std::string records_;
  std::set<std::string, std::less<>> known_tags_;
};

// What is needed to go on behind an event that was written before.
struct SeenEvent {
  std::int64_t step = 0;
  std::int64_t at_ms = 0;
  bool starts = false;            // a SessionLog START
  bool stops = false;             // a SessionLog STOP
  std::vector<std::string> tags;  // of its values
};

// Nothing: not an event.
std::optional<SeenEvent> seen_event(std::string_view data);

}  // namespace trainward::tracking
