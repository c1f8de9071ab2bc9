#include "supervisor/courier/upload/target/ownership.hpp"

#include <optional>

namespace trainward::upload {
namespace {

constexpr const char* owner_key = "owner";

}  // namespace

Status may_publish(const Run& run, const std::string& there, Memory& memory,
                   const std::string& where) {
  if (run.id.empty() || there.empty() || there == run.id) return {};
  constexpr const char* remedy =
      "name another place in 'upload' (prefix, folder, repository or revision), move away what is "
      "there, or go on from it: `upload.restore: true` with no checkpoint here";
  auto owner = memory.get(owner_key);
  if (!owner) return propagate(owner);
  if (*owner == run.id) {
    return fail(ErrorKind::permanent,
                "was this run's, but another run has continued there: elsewhere, or started over",
                where, remedy);
  }
  if (run.goes_on) return {};
  return fail(ErrorKind::permanent,
              "holds checkpoints of another run, which this one would replace, since it began from "
              "step 0",
              where, remedy);
}

Status note_ownership(const Run& run, Memory& memory) {
  if (run.id.empty()) return {};
  auto owner = memory.get(owner_key);
  if (!owner) return propagate(owner);
  return *owner == run.id ? Status() : memory.put(owner_key, run.id);
}

}  // namespace trainward::upload
