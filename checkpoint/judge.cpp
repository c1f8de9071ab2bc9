#include "checkpoint/judge.hpp"

#include "checkpoint/disk/root_folder.hpp"

namespace trainward::checkpoint {

std::optional<Result<Summary>> judge(const std::filesystem::path& folder, const IoOptions& io) {
  constexpr int attempts = 8;
  for (int i = 0;; ++i) {
    const std::string before = identity(folder);
    if (before.empty()) return std::nullopt;
    auto verdict = verify(folder, io);
    if (verdict || identity(folder) == before) return verdict;
    if (i == attempts) {
      return fail(ErrorKind::transient, "keeps changing while it is verified", folder.string());
    }
  }
}

}  // namespace trainward::checkpoint
