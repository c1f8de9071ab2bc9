// The rows of courier.db that one program's target has: what was sent and what is being sent, what
// the target remembers, what people asked for. Each write is on the disk when it returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/base/courier_journal.hpp"
#include "supervisor/courier/base/job.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/upload_policy.hpp"
#include "supervisor/orders/left.hpp"

namespace trainward::courier {

class UploadRows : public upload::Memory {
 public:
  // `journal` must outlive it.
  UploadRows(Journal& journal, std::string program, std::string target)
      : journal_(journal), program_(std::move(program)), target_(std::move(target)) {}

  // Everything on record then belongs to this place; what was at another one is sent again.
  Status lies_at(const std::string& place);
  Result<std::vector<upload::Known>> known();
  // Why what is newer than all that arrived has not, and when that is tried again.
  Result<Trouble> trouble();
  // What people have asked for since seen().
  struct Asked {
    bool now = false;
    bool retry = false;
    bool verify = false;
    std::int64_t last = 0;  // of the requests
  };
  Result<Asked> asked();
  // All up to this one has been done, or is on record elsewhere.
  Status seen(std::int64_t request);

  struct Begun {
    upload::Candidate what;
    std::string state;  // sending | held
    std::int64_t at_ms = 0;
    std::int64_t next_ms = 0;
    bool asked = false;
  };
  // A row that is there keeps its tries and what has arrived, unless what it tells of is over.
  Status begin(const Begun& begun);
  Status progress(const upload::Candidate& what, std::int64_t bytes, std::int64_t sent,
                  std::int64_t bytes_per_second);
  Status done(const upload::Candidate& what, const std::string& place, std::int64_t at_ms);
  // `state`: waiting | failed | stale | held.
  Status not_done(const upload::Candidate& what, const std::string& state, const std::string& error,
                  int tries, std::int64_t next_ms, std::int64_t at_ms);
  Status stale(const std::string& name, std::int64_t at_ms);
  // What failed or waits may be tried at once.
  Status retry();
  // `error` empty: all is there as it was sent.
  Status checked(const std::string& name, std::int64_t step, const std::string& error,
                 std::int64_t at_ms);

  // ---- upload::Memory ----
  Result<std::optional<std::string>> get(const std::string& key) override;
  Status put(const std::string& key, const std::string& value) override;
  Status forget(const std::string& prefix) override;

 private:
  Journal& journal_;
  std::string program_;
  std::string target_;
};

// How much of the newest checkpoint that is on its way has arrived, by the names of jobs.
Status measure_uploads(Journal& journal, std::vector<orders::Left::Job>& jobs);

// What a target's job is called: "upload trainer/hub".
std::string job_name(const std::string& program, const std::string& target);

// "now", "retry" or "verify", of a program ("": every one) and target ("": every one).
Status ask_for_upload(Journal& journal, const std::string& what, const std::string& program,
                      const std::string& target, std::int64_t at_ms);

}  // namespace trainward::courier
