// A terminal taken over for a while: other screen, keys as they are typed, no cursor; and given
// back as it was, whatever way this object ends.
//
// Nothing here waits: what the terminal does not take at once is kept until it does. One thread.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "supervisor/ctl/top/canvas.hpp"

namespace trainward::ctl::live {

class Screen {
 public:
  // Both descriptors are of one terminal; borrowed. Fails when the terminal does not let itself be
  // asked.
  static Result<Screen> open(int in, int out);
  Screen(Screen&& other) noexcept;
  Screen& operator=(Screen&&) = delete;
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  // Into our mode, and out of it; each may be called twice.
  void enter();
  void leave();

  // At least one column and one row.
  [[nodiscard]] top::Size size() const;

  // Bytes that are waiting go first. False when the terminal is gone.
  bool write(std::string_view bytes);
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }
  [[nodiscard]] int out() const { return own_ ? own_.get() : out_; }

 private:
  Screen(int in, int out, const termios& before);
  bool flush();

  int in_;
  int out_;
  termios before_;
  Fd own_;  // the terminal once more, so that only we do not wait for it
  std::string waiting_;
  bool entered_ = false;
  bool moved_from_ = false;
};

}  // namespace trainward::ctl::live
