// What a line of a log looks like, where a regular expression would be the wrong tool.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainward::rules {

// "torch.OutOfMemoryError: CUDA out …" of a line that is the last of a Python traceback, from the
// name on; whatever a launcher or a logger writes in front is passed over: "[rank3]: ", "E  ",
// "(Worker pid=7) ", "3: ", "2026-01-02 10:00:00,123 ERROR ". Empty for any other line.
std::string_view exception_part(std::string_view line);

// A number that is the same for two lines that tell of the same step, and different when training
// went on between them.
std::uint64_t progress_mark(std::string_view line);

// Follows a Python traceback through a stream, line by line.
class Traceback {
 public:
  // Is there anything to follow? When not, only lines for which may_begin() holds need be shown.
  [[nodiscard]] bool active() const { return code_column_ != none || ignoring_ > 0; }
  // False for lines that are no evidence: source code that a traceback quotes, and all of an
  // exception that the interpreter itself says it ignores.
  bool searchable(std::string_view line);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t code_column_ = none;  // where the quoted code of a frame is indented further
  int ignoring_ = 0;                // lines of an ignored exception that may still come
};

// Of these texts, one stands in every line that changes a Traceback.
inline constexpr std::string_view traceback_texts[] = {"file \"", "exception ignored in"};

}  // namespace trainward::rules
