// A line of a JSONL file as a document.
//
// In: one line. Out: its text: the member "text", or "prompt" and "response" with a line end
// between them; other members are passed over. Nothing for a blank line.
// Errors: corrupt, with the reason: no JSON object, not UTF-8, a member that is not text, or none
// of those members. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::trainer {

Result<std::optional<std::string>> document_of_line(std::string_view line);

}  // namespace trainward::trainer
