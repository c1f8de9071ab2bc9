#include <algorithm>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/verified.hpp"
#include "common/file.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr int least_kept = 2;  // one may turn out damaged just when it is needed

}  // namespace

Result<std::vector<fs::path>> prune(const fs::path& root, int keep,
                                    const std::vector<fs::path>& held) {
  clean_up(root);
  auto folders = step_folders(root);
  if (!folders) return propagate(folders);
  std::vector<std::string> held_names;
  held_names.reserve(held.size());
  for (const fs::path& path : held) held_names.push_back(last_component(path));

  int verified = 0;
  std::vector<fs::path> removed;
  for (const fs::path& folder : *folders) {
    if (verified < std::max(keep, least_kept)) {
      // Written checkpoints were proven on the disk when they were saved; reading them from there
      // again after every save would cost more than the save.
      if (open_verified(folder, ReadFrom::cache)) ++verified;
      continue;
    }
    const std::string name = folder.filename().string();
    if (std::find(held_names.begin(), held_names.end(), name) != held_names.end()) continue;
    if (auto ok = remove_checkpoint(folder); !ok) return propagate(ok);
    removed.push_back(folder);
  }
  if (!removed.empty()) {
    if (auto ok = fsync_folder(root); !ok) return propagate(ok);
  }
  return removed;
}

}  // namespace trainward::checkpoint
