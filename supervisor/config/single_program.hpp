// A file, or a command line, that is one program: written out as the map of programs it stands for.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/yaml/document.hpp"

namespace trainward::config {

// A file without `programs:` in which a program's keys stand at the top is that program, under the
// `name` it gives or else `name`, and a note says so. Every other file stays as it is.
void name_single_program(yaml::Node& root, std::string name, std::vector<yaml::Problem>& notes);

// The name of the program in such a file that does not name it: the file's own, without extension;
// "main" for trainward.yaml, and for a file whose name cannot be a program's. It is also "main" if
// `state_dir` has a run of that name and none of the other, so that a run continues that began when
// every such program was called that.
std::string name_of_file(const std::filesystem::path& file, const std::filesystem::path& state_dir);

// The `command` of these words, in each of which a name in braces is filled in. A word that names
// one is left out while it is empty, together with the option before it ("--resume {checkpoint}").
yaml::Node command_of_words(std::span<const std::string> words, yaml::Mark mark);

// A program with this command and every default, named after its script ('python3 src/train.py':
// train). A brace is itself, but for those around a name that is filled in ("{checkpoint}").
yaml::Node program_of_command(std::span<const std::string> words);

// The name of that program.
std::string name_of_command(std::span<const std::string> words);

}  // namespace trainward::config
