#include "supervisor/courier/jobs/uploads/candidates.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/courier/upload/package.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::courier {

using upload::Candidate;

namespace {

// When a checkpoint was written, which is not the order in which several were verified. The time of
// a folder of ours changes when it is pinned.
std::int64_t saved_ms(const std::string& path, const struct stat& info) {
  struct stat manifest {};
  const bool ours =
      S_ISDIR(info.st_mode) && ::lstat((path + "/MANIFEST.json").c_str(), &manifest) == 0;
  return upload::modified_ns(ours ? manifest : info) / 1'000'000;
}

}  // namespace

Result<std::vector<Candidate>> candidates_of(const store::Store& store,
                                             const orders::Source& source) {
  const std::string& program = source.program;
  auto rows = store.checkpoints_json(program);
  if (!rows) return propagate(rows);
  auto row = store.program(program);
  if (!row) return propagate(row);
  const bool is_over = *row && (*row)->state == "EXITED";
  std::vector<Candidate> out;
  for (const json::value& value : *rows) {
    const json::object& one = value.as_object();
    if (string_or(one, "state", "") != "verified") continue;
    Candidate candidate;
    candidate.path = string_or(one, "path", "");
    candidate.step = int_or(one, "step", 0);
    candidate.name = upload::published_name(candidate.path, candidate.step);
    struct stat info {};
    if (::lstat(candidate.path.c_str(), &info) != 0) continue;
    // Written over since: not verified as it is now. Its next row comes when it is.
    const bool is_another = source.foreign && S_ISREG(info.st_mode) &&
                            info.st_size != int_or(one, "bytes", info.st_size);
    if (is_another) continue;
    candidate.at_ms = saved_ms(candidate.path, info);
    const std::int64_t every = source.milestone_every;
    const bool pinned =
        S_ISDIR(info.st_mode) && ::lstat((candidate.path + "/PINNED").c_str(), &info) == 0;
    candidate.milestone = pinned || (every > 0 && candidate.step % every == 0);
    out.push_back(std::move(candidate));
  }
  if (is_over && !out.empty()) {
    std::max_element(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
      return a.at_ms < b.at_ms;
    })->milestone = true;
  }
  return out;
}

// Identified by the nonce of the run's first attempt, which a recreated database has again; not by
// the nonce itself, which identifies its worker.
Result<upload::Run> run_of(const store::Store& store, const std::string& program) {
  constexpr std::size_t digits = 16;
  auto origin = store.origin(program);
  if (!origin) return propagate(origin);
  if (!*origin || (*origin)->nonce.empty()) return upload::Run{};
  return upload::Run{sha256_hex((*origin)->nonce).substr(0, digits), (*origin)->goes_on};
}

}  // namespace trainward::courier
