// What a word on the command line means where checkpoints are asked for: a folder, or a program.
//
// A word with a slash, or the name of a folder that exists, is a folder; another word is a program,
// and means the folder that its newest checkpoint on record lies in. Failures are ready to print.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/os/credentials.hpp"
#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl {

// For the help of a command that takes such a word.
inline constexpr const char* place_help = "a checkpoint, a folder of checkpoints, or a program";

bool names_a_folder(const std::string& text);

// True for a checkpoint, also a damaged one; anything else is a folder of checkpoints.
bool is_checkpoint(const std::filesystem::path& folder);

// The folder itself, or that of a program.
Answer<std::filesystem::path> folder_of(const Context& context, const std::string& text);

// The checkpoints it stands for, newest first, damaged ones too: itself, or those in it. Never
// empty.
Answer<std::vector<std::filesystem::path>> checkpoints_of(const Context& context,
                                                          const std::string& text);

// The checkpoint it is, or the newest in it that has a readable manifest.
Answer<std::filesystem::path> one_checkpoint_of(const Context& context, const std::string& text);

// A folder of checkpoints, and no checkpoint.
Answer<std::filesystem::path> root_of(const Context& context, const std::string& text);

// Whom root is to act as when it changes something in `folder`, or the folder itself: its owner,
// who may have put links in there.
std::optional<Credentials> owner_of(const std::filesystem::path& folder);

// Checkpoint rows on record, of one program or of all ("").
Answer<json::array> checkpoints_on_record(const Context& context, const std::string& program);

}  // namespace trainward::ctl
