// What other trainers and supervisors call the things of this configuration.
#pragma once

#include <string>
#include <string_view>

namespace trainward::config {

// Where a key that nobody asked for belongs, or by which key it is said here: of other trainers'
// configurations (elsewhere/), of supervisord's, and of our own in a wrong place. A whole sentence;
// empty when it is nobody's we know.
std::string other_name(std::string_view key);

// Whether the key stands in a program's entry, or would for one of the others.
bool is_program_key(std::string_view key);

}  // namespace trainward::config
