// Text put into the languages of receivers, never cut inside of a character or of an escape. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainward::courier {

// Each character of `text` by `escaped`, as many as fit into `most` bytes; "…" where some did not.
std::string escaped(std::string_view text, std::size_t most,
                    std::string (*escape)(std::string_view character));

std::string slack_character(std::string_view character);    // & < >
std::string discord_character(std::string_view character);  // Markdown, mentions
std::string code_character(std::string_view character);     // inside of a block of ```
std::string html_character(std::string_view character);

// One line of a header as RFC 2047 has it: plain where it may be, else encoded words of at most 75
// characters, folded. What ends a line never comes through.
std::string header_text(std::string_view text);

}  // namespace trainward::courier
