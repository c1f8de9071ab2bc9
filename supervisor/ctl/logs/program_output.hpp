// Another program of this package, asked something that it answers at once.
#pragma once

#include <string>
#include <vector>

namespace trainward::ctl {

// What `name`, which lies beside this program, prints on its standard output until its end, or for
// ten seconds, which also end it. Empty: it could not be started.
std::string output_of_program(const std::string& name, std::vector<std::string> words);

}  // namespace trainward::ctl
