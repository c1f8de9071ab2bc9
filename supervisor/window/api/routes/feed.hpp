// News of what is on record, to all listeners: events as they are committed, and at most once a
// second what the programs are at. Framed as server-sent events (docs/api.md).
//
//   a commit ─▶ poke() ─▶ a look by the reader ─▶ who is behind has its next events read
//
// Nothing is read within a commit, and without listeners a poke does nothing. Every listener has a
// place of its own in the events, which moves on only with what was put into its pipe: none is left
// out and none comes twice, however slowly it reads; one that does not read at all is closed by its
// pipe. Thread: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "supervisor/window/api/http/api_reader.hpp"
#include "supervisor/window/api/http/http.hpp"

namespace boost::asio {
class io_context;
}

namespace trainward::api {

class Feed {
 public:
  static constexpr std::size_t most_listeners = 16;
  static constexpr std::size_t most_over_tcp = 12;  // the others are for the machine's own
  // Who is further behind starts over, as reading the whole again is cheaper.
  static constexpr std::int64_t most_behind = 5'000;

  struct Pace {
    std::chrono::milliseconds looks{100};
    std::chrono::milliseconds status{1'000};
    std::chrono::milliseconds heartbeat{15'000};
  };
  // What a listener is greeted with.
  struct Greeting {
    std::int64_t started_ms = 0;
    std::string version;
  };
  // Adds to the rows of the programs what only the daemon knows.
  using Touch = std::function<void(json::array&)>;

  Feed(boost::asio::io_context& loop, Reader& reader, Greeting greeting, Touch touch, Pace pace);
  // Ends every stream.
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // To be called when something was committed; may be called when the feed is gone.
  [[nodiscard]] std::function<void()> poke() const;

  struct Wish {
    std::string program;                // "" for all
    std::optional<std::int64_t> after;  // the newest event that is known; none: from now on
    bool over_tcp = false;
  };
  // Answers with a stream; 404 for a program that is not here, 503 when there are too many.
  void listen(const Wish& wish, const Respond& respond);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::api
