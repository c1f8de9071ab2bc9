// What lies at a path that is no model we can open, and what its owner can do about it.
//
// In: the path that was named. Out: nothing when it is a folder with config.json and safetensors;
// else an error of kind usage that says what it is instead (a name on the hub, the hub's cache,
// GGUF, an adapter, files of torch.save, …) and the command that helps. Looks at names only; reads
// no file.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::checkpoint::huggingface {

Status check_folder(const std::filesystem::path& path);

// "Organisation/Model", as the hub spells names.
bool looks_like_a_hub_name(std::string_view text);

// Whether there is anything, at the end of links too.
bool is_there(const std::filesystem::path& path);

}  // namespace trainward::checkpoint::huggingface
