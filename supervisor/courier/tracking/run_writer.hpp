// A program's run as TensorBoard's event files: written once from the beginning, and kept up from
// then on.
//
// One file an attempt, only ever appended to. What is on the disk is found again by a cursor, and
// what was appended behind it by reading: a tail that is not whole is cut off, of the newest file
// and no other. Where the cursor is lost, or does not agree with the folder or the run database,
// the run's folder is rewritten beside the old one and replaces it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/courier/tracking/attempt_events.hpp"
#include "supervisor/courier/tracking/run_folder.hpp"
#include "supervisor/courier/tracking/timeline.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::tracking {

// What a writer keeps over the death of its process, as one text; "": nothing yet.
class Memory {
 public:
  Memory() = default;
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual Result<std::string> get() = 0;
  virtual Status put(const std::string& text) = 0;  // on the disk when it returns
};

// Whether to end soon.
using Stop = std::function<bool()>;

// Of this machine, in letters that a file's name may have.
std::string host_name();

struct RunOptions {
  std::string program;
  std::filesystem::path folder;  // the user's
  std::string host;              // part of the names of files
  json::object hparams = {};
  std::int64_t every = 1;
  std::string kept_by = "trainwardd";
};

// What tells this run from others of the same name: of its first attempt. Nothing: it had none.
Result<std::optional<std::string>> run_identity(const store::Store& store,
                                                const std::string& program);

class RunWriter {
 public:
  RunWriter(RunOptions options, Memory& memory)
      : options_(std::move(options)), memory_(memory), events_(options_.program, options_.every) {}

  // Brings the files up to what the store has; ends early when asked to. `now_ms` (wall) says when
  // the cursor is due. After an error the next call works out where it stands. No state of the
  // store is held while files are written: they may hang, and its log of changes would grow as
  // long.
  Status advance(const store::Store& store, std::int64_t now_ms, const Stop& stop);
  // Rewrites all of it, whatever is there.
  Status rewrite(const store::Store& store, std::int64_t now_ms, const Stop& stop);

  // The run's folder, once there is one.
  [[nodiscard]] std::filesystem::path folder() const {
    return folder_ ? folder_->path() : std::filesystem::path();
  }

 private:
  // Of the attempt that is being written.
  struct Open {
    store::AttemptRow attempt;
    Place place;
    Position position;
    std::string name;
    Fd file;
    std::int64_t size = 0;
    std::int64_t seal = 0;  // its last four bytes, which are a checksum
    bool started = false;
    bool hparams = false;   // were told in it
    bool told_end = false;  // its verdict
    bool closed = false;
    EventFile encoder;
  };

  [[nodiscard]] RunMark mark() const { return {options_.program, run_, options_.kept_by}; }
  Result<bool> reopen(const store::Store& store);
  Status reopen_file(std::int64_t from, Open& open);
  [[nodiscard]] bool still_ours() const;
  Result<bool> write_more(const store::Store& store, std::int64_t now_ms);
  Result<bool> read_more(const store::Store& store, Open& open);
  Result<bool> next_attempt(const store::Store& store);
  Status begin_file(const store::Store& store, const store::AttemptRow& attempt, Place place);
  Status close(const store::Store& store, std::int64_t now_ms);
  Status append(Open& open) const;
  Status keep_cursor(std::int64_t now_ms);
  [[nodiscard]] std::string file_name(const Place& place, std::int64_t attempt) const;
  void forget();

  RunOptions options_;
  Memory& memory_;
  std::string run_;
  AttemptEvents events_;
  Timeline timeline_;
  std::int64_t first_attempt_ = 0;
  std::int64_t next_attempt_ = 0;  // whose file is to be begun, or is open
  std::optional<LogFolder> logs_;
  std::optional<RunFolder> folder_;
  std::optional<Open> open_;
  std::vector<std::string> built_;  // names of the files of a folder that is being built
  bool building_ = false;
  std::int64_t kept_ms_ = 0;
  std::int64_t kept_size_ = 0;
};

}  // namespace trainward::tracking
