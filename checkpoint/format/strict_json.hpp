// JSON of checkpoint files, read without the two liberties of the ordinary parser: a duplicate key
// is an error (a second "model.safetensors" would hide the first), and a fraction comes back as
// exactly the double that was written (a learning rate one bit off is another training run).
//
// In: text from strangers. Out: a value, or an error of kind corrupt with the byte offset. Depth is
// limited to 32, keys and values together to `most_entries`, since each costs some 100 bytes while
// it is read; invalid UTF-8 is refused. Pure; may be called from any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint {

inline constexpr std::size_t max_json_depth = 32;
// Of a checkpoint's files: a header of 17,000 tensors, a manifest of 3 TiB.
inline constexpr std::size_t max_json_entries = 250'000;
// For models from elsewhere: 140,000 tensors in one file.
inline constexpr std::size_t max_model_json_entries = 2'000'000;

// `where` names the source in errors.
Result<json::value> parse_strict_json(std::string_view text, std::string_view where,
                                      std::size_t most_entries = max_json_entries);

// JSON has no spelling for what a diverged loss is, so nan, inf and -inf are written as text.
json::value json_number(double number);
Result<double> number_from_json(const json::object& object, std::string_view key);

}  // namespace trainward::checkpoint
