// What a person writes where a model's folder is asked for, as a path.
//
// In: text such as "models/tiny", "~/models/tiny" or "~". Out: the path; "~" and "$HOME" are not
// known to anybody but shells, and configurations are full of them, so "~/" is the user's home
// here. Never fails: without a home the text stays what it is. Whether anything lies there is the
// caller's question.
#pragma once

#include <filesystem>
#include <string_view>

namespace trainward::checkpoint::huggingface {

std::filesystem::path folder_path(std::string_view text);

// The same for a given home; "" means no home.
std::filesystem::path folder_path(std::string_view text, std::string_view home);

}  // namespace trainward::checkpoint::huggingface
