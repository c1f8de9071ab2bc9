// What the API asks of the daemon: commands, and what only a running daemon knows. What is on
// record it reads from the store (routes.hpp). Implemented by daemon::Daemon; faked in tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "supervisor/window/api/http/listener.hpp"

namespace trainward::api {

enum class Verb { start, start_from_scratch, stop, restart };

struct LogSlice {
  std::string bytes;
  std::int64_t offset = 0;   // of bytes[0]; later than asked for where the oldest were deleted
  std::int64_t size = 0;     // of all output so far, whatever was rotated away
  std::int64_t attempt = 0;  // whose log it is
};

struct LogRequest {
  std::string program;
  std::string stream;                   // "stdout" or "stderr"
  std::optional<std::int64_t> attempt;  // none: the newest
  std::int64_t offset = 0;              // a negative one counts from the end
  std::int64_t limit = 0;
};

struct ProbeRequest {
  bool deep = false;     // also by tt-smi, of boards that nobody uses
  bool recorded = true;  // in the run database
};

// A change names who asks for it (`by`: "uid 1000", "token anna"), and the events record that.
class Control {
 public:
  virtual ~Control() = default;

  using Answer = Listener<Result<json::value>>;

  virtual json::value version() const = 0;
  // What metrics say of the daemon itself, and the folders whose disks they look at.
  virtual metrics::Live live() const = 0;
  // {"program", "result", "ok", "message"}; kind usage when there is no such program. `answer`
  // comes when it is done: started or failed, stopped.
  virtual void command(const std::string& program, Verb verb, const std::string& by,
                       Answer answer) = 0;
  // The same for every program at once, in the order of their names.
  virtual void command_all(Verb verb, const std::string& by, Answer answer) = 0;
  virtual Result<json::value> reread() = 0;  // what update() would change
  // Empty: every program. Kind usage when there is no such program, neither here nor in the file.
  virtual void update(const std::string& program, const std::string& by, Answer answer) = 0;
  // [{"name", "in_use", "autostart"}] of the configuration file, and of what runs beside it.
  virtual Result<json::value> available() = 0;
  // {"program", "result", "ok", "message"}, as of a command: a program of the file that is not here
  // yet; one that rests is forgotten until it is added again.
  virtual Result<json::value> add(const std::string& program, const std::string& by) = 0;
  virtual Result<json::value> remove(const std::string& program, const std::string& by) = 0;
  // To the worker itself, and nobody it has started.
  virtual Result<json::value> signal(const std::string& program, int number,
                                     const std::string& by) = 0;
  // Empties the logs of the attempts that are over.
  virtual void clear(const std::string& program, const std::string& by, Answer answer) = 0;
  virtual Result<json::value> reload(const std::string& by) = 0;
  // {"result", "from", "to", "started_ms"}: the program on the disk takes this one's place, if it
  // runs and accepts the configuration.
  virtual void upgrade(const std::string& by, Answer answer) = 0;
  virtual Result<json::value> shutdown(const std::string& by) = 0;
  // {"serial", "message"}: a board's faults and its quarantine are forgotten, for all programs.
  // Kind usage for one that is not in quarantine.
  virtual Result<json::value> release_board(const std::string& serial, const std::string& by) = 0;
  virtual void probe(const ProbeRequest& request, Answer answer) = 0;

  // {"program", "would", "last_step", "kept_step", "steps_at_risk", "message"}: what the command
  // would do and what it would cost, now. Changes nothing; kind usage when there is no such
  // program.
  virtual Result<json::value> rehearse(const std::string& program, Verb verb) const = 0;
  // The same of every program, in the order of their names.
  virtual json::value rehearse_all(Verb verb) const = 0;

  // Why what happens cannot be recorded, in words; empty: it is.
  virtual std::string refusal() const = 0;
  // {"needed", "trouble"}: whether anybody is to be told or sent anything, and why nothing is.
  virtual json::object courier() const = 0;
  // What keeps the daemon from looking after this program as it should, in words; empty: nothing.
  virtual std::string trouble(const std::string& program) const = 0;
  // Kind usage when there is no such program. Read off the loop: its disk may not answer.
  virtual void log(const LogRequest& request, Listener<Result<LogSlice>> answer) = 0;
  // What the daemon itself has logged since it started, as far as it is kept.
  virtual LogSlice own_log(std::int64_t offset, std::int64_t limit) const = 0;
};

}  // namespace trainward::api
