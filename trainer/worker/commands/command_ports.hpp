// What a command of trainward-worker needs of the world, besides files.
#pragma once

#include <functional>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "common/terminal/progress_bar.hpp"
#include "trainer/loop/reporting/requests.hpp"

namespace trainward::trainer {

struct CommandPorts {
  const Requests& requests;
  std::function<void(std::string_view)> out;
  std::function<void(std::string_view)> err;
  std::function<int()> err_width;  // columns; 0: no terminal
  std::function<ProgressBar::Time()> now;
  bool out_is_terminal = false;  // text from elsewhere is made safe for it
};

// Says the error in a line; the exit code for it.
inline int tell(const CommandPorts& ports, const Error& error) {
  ports.err(fmt::format("trainward-worker: {}\n", clean(error.message())));
  return error.kind == ErrorKind::usage ? exit_code::configuration : exit_code::failed;
}

}  // namespace trainward::trainer
