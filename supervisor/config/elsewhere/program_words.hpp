// What a key of supervisord's [program:x] becomes here, or why it has no counterpart. Pure.
#pragma once

#include "supervisor/config/elsewhere/counterpart.hpp"

namespace trainward::config {

const Counterpart* find_program_word(std::string_view key);  // null: none that supervisord reads

}  // namespace trainward::config
