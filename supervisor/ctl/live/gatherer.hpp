// One look after the other at what a screen shows: the daemon's documents, or, when it does not
// answer, its database read-only and the logs that it left.
//
// What changes seldom is asked for seldom; events and logs only from where the last look ended.
// Blocks for as long as the deadlines allow; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "supervisor/ctl/base/context.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/top/top_documents.hpp"
#include "supervisor/ctl/top/top_log_tail.hpp"
#include "supervisor/ctl/top/ui.hpp"

namespace trainward::ctl::live {

// So short that keys and pictures go on while a daemon is slow.
inline constexpr std::chrono::milliseconds deadline{1'500};

class Gatherer {
 public:
  Gatherer(const Context& context, bool ascii) : context_(context), ascii_(ascii) {}

  // Of the first program where none is named. `stopped` asks whether to give up between two
  // requests.
  top::Documents look(
      const top::Interest& interest, Time now,
      const std::function<bool()>& stopped = [] { return false; });

 private:
  class Reader;

  // A document that was read a while ago, and for what.
  struct Kept {
    std::string of;
    std::int64_t read_ms = 0;
    json::value value;
  };
  const json::value& kept(const std::string& name, const std::string& of, std::int64_t for_ms,
                          const std::function<json::value()>& read);

  void read_program(const Reader& reader, const top::Interest& interest, top::Documents& documents);
  void read_recent(const Reader& reader, top::Documents& documents);
  void read_events(const Reader& reader, const std::string& program);
  void read_log(const top::Interest& interest, const std::string& program);

  const Context& context_;
  bool ascii_;
  std::int64_t now_ms_ = 0;
  std::map<std::string, Kept> kept_;
  std::string selected_;  // whose these are
  std::string events_of_;
  json::array events_;
  std::string log_of_;
  std::int64_t log_attempt_ = 0;
  std::int64_t log_offset_ = 0;
  top::LogTail log_;
};

}  // namespace trainward::ctl::live
