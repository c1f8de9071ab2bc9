// Which names a repository keeps as LFS objects, by its .gitattributes. Pure.
//
// A path that none of its patterns has makes the Hub add a line for that one path. A checkpoint
// whose name has the step in it would add lines for ever; so a pattern for the kind of file goes up
// with the commit instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainward::upload::hub {

inline constexpr std::string_view attributes_name = ".gitattributes";

// Whether every new repository of the Hub tracks it.
bool is_tracked_from_the_start(std::string_view path);

// Lines to be added to `attributes`, so that these LFS objects are tracked by patterns without a
// folder in them; empty: nothing is missing. What cannot be written as a pattern, or would have one
// of the regular files too, is left to the Hub.
std::string missing_lines(std::string_view attributes, const std::vector<std::string>& objects,
                          const std::vector<std::string>& regular);

}  // namespace trainward::upload::hub
