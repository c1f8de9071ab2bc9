// trainward-courier asked for one thing: it lies beside this program, reads what it is asked on its
// stdin and answers with lines. It alone speaks to the network.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::ctl {

// Calls `on_line` for each line of its output as it comes, and returns its exit code when it has
// ended; its log goes to our stderr. Kind permanent: it could not be started; transient: a signal
// ended it.
Result<int> call_courier(const std::string& word, const std::string& input,
                         const std::function<void(std::string_view)>& on_line);

}  // namespace trainward::ctl
