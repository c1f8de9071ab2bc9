#include "checkpoint/judge.hpp"

#include "checkpoint/disk/root_folder.hpp"

namespace trainward::checkpoint {

std::optional<Result<Summary>> judge(const std::filesystem::path& folder, const IoOptions& io) {
  constexpr int attempts = 8;
  bool read_twice = false;
  for (int i = 0; i < attempts; ++i) {
    const std::string before = identity(folder);
    if (before.empty()) return std::nullopt;
    auto verdict = verify(folder, io);
    if (verdict) return verdict;
    if (identity(folder) != before) continue;
    if (verdict.error().kind != ErrorKind::corrupt || read_twice) return verdict;
    read_twice = true;
  }
  return fail(ErrorKind::transient, "keeps changing while it is verified", folder.string());
}

}  // namespace trainward::checkpoint
