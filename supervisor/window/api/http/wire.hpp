// A response as it goes over the connection. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

enum class Framing {
  length,   // the body's length is told
  chunked,  // pieces that tell theirs
  open,     // until the connection ends (HTTP/1.0)
};

// Status line and header up to the empty line. Every answer carries what tells a browser to trust
// it with nothing: its policy, and that no other site may use it. A text that a header cannot carry
// (line ends, control characters) is carried with spaces in their place.
std::string head_of(const Response& response, Framing framing, bool keep_open);

std::string chunk_of(std::string_view piece);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace trainward::api
