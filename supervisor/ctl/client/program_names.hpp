// Which programs the words of a command line mean: names, `all`, globs (`gpu-*`), and the ways in
// which supervisorctl names a group and its processes. A program is a group of one, so `NAME:*`,
// `NAME:` and `NAME:NAME` are NAME.
#pragma once

#include <string>

#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl {

// The word for one program, however supervisorctl spells it.
std::string plain_name(std::string word);

// Of all programs `known`, in the order of the words, none twice. A word that means none of them
// stays as it is, so that the daemon can report it.
Names meant_by(const Names& words, const Names& known);

// Asks the daemon which programs there are, where a word needs that.
Answer<Names> meant_by(const Context& context, const Names& words);

// The only program there is; an error of kind usage that names them when there are several.
Answer<std::string> only_program(const Context& context, std::string_view command);

}  // namespace trainward::ctl
