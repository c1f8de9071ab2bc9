// Carries connections over one pair of descriptors, at either end of ssh: bytes of channels into
// frames (frames.hpp), and frames into bytes of channels.
//
// Bounded: while more than a MiB waits to be written somewhere, what would add to it is not read.
// One thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/os/fd.hpp"
#include "supervisor/ctl/client/frames.hpp"

namespace trainward::ctl::remote {

// errno of a channel that the other side could not open; 0: none. Set before the channel closes.
using Refusal = std::shared_ptr<std::atomic<int>>;

class Relay {
 public:
  // What a new channel is connected to: a descriptor, or errno. Empty: the other side opens none.
  using Connect = std::function<tl::expected<Fd, int>()>;

  // Neither descriptor is owned; both may be the same socket. They do not block.
  Relay(int in, int out, Connect connect = {}) : in_(in), out_(out), connect_(std::move(connect)) {}

  // Bytes that were read from `in` already.
  void add_input(std::string_view bytes) { reader_.add(bytes); }

  // Asks the other side for a connection, and goes on with it at `fd`, which does not block.
  void open(Fd fd, Refusal refusal);

  // Waits until something can be done, and does it. What can be read of `also` ends the wait too,
  // and is left there. False when `in` has ended. An error: the other side is not ours, or can
  // no longer be written to.
  Result<bool> turn(std::initializer_list<int> also = {});

 private:
  struct Channel {
    Fd fd;
    std::string pending;  // to be written to it
    bool ending = false;  // as soon as nothing is pending
    Refusal refusal;
  };

  Result<bool> read_input();
  Status act_on_frames();
  Status act_on(const Frame& frame);
  Status write_output();
  void serve(std::uint32_t id, short events);
  void end(std::uint32_t id);

  int in_;
  int out_;
  Connect connect_;
  FrameReader reader_;
  std::string output_;
  std::map<std::uint32_t, Channel> channels_;
  std::uint32_t next_ = 0;
};

// As much of `bytes` as goes now; it is taken from their front. False when nobody can read it any
// more. A signal (SIGPIPE) comes only of what is no socket.
bool write_some(int fd, std::string& bytes);

}  // namespace trainward::ctl::remote
