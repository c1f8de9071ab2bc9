// How a terminal hands over keys as they are typed. Pure.
#pragma once

#include <termios.h>

namespace trainward {

// `before` changed so that bytes come as they are typed, and none of them is shown or is a signal.
termios raw_mode_of(termios before);

}  // namespace trainward
