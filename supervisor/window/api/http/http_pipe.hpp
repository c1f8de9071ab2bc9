// A body that comes piece by piece: who makes it at one end, the client's connection at the other.
//
// Nobody waits for a slow reader: more than `most_queued` bytes that the client has not taken close
// the pipe, and with it the connection. Thread: the loop's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace trainward::api {

class Pipe {
 public:
  static constexpr std::size_t most_queued = 256 * 1024;

  // ---- who makes the body ----
  // False when the reader is gone or too slow: the pipe is closed then.
  bool send(std::string_view piece);
  // No more comes; what is queued still goes out.
  void end();
  [[nodiscard]] bool open() const { return !closed_ && !ended_; }
  [[nodiscard]] std::size_t queued() const { return queued_.size(); }
  // Called whenever the connection has taken all there was.
  void on_drained(std::function<void()> drained) { drained_ = std::move(drained); }

  // ---- who watches over what its reader may have ----
  // Once this no longer holds nothing goes in, and the pipe ends.
  void only_while(std::function<bool()> holds);
  // Ends the pipe if that no longer holds; called after every change to it.
  void check();

  // ---- the connection ----
  // `news` is called when there is something to take, the end, or nothing more to wait for.
  void attach(std::function<void()> news);
  // All that is queued; empty: nothing yet.
  std::string take();
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool closed() const { return closed_; }
  // The client is gone.
  void close();

 private:
  void tell();

  std::string queued_;
  std::function<void()> news_;
  std::function<void()> drained_;
  std::function<bool()> holds_;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace trainward::api
