// Objects as files below a folder: another disk, a network file system. Each is written beside its
// place, synced, compared with what was to be sent, and renamed.
//
// Others may write into that folder, and turn what lies there into links at any moment: everything
// goes through the open folder (common/os/folder.hpp), and with the rights of the user who could
// redirect the path to it (path_trust.hpp, rights_in()).
#pragma once

#include <filesystem>
#include <string>
#include <type_traits>

#include "common/os/folder.hpp"
#include "supervisor/courier/upload/target/object_store.hpp"
#include "supervisor/courier/upload/target/target_options.hpp"

namespace trainward::upload {

class FolderStore : public ObjectStore {
 public:
  // `root` is never made: where it is missing, a disk is not mounted. `memory` must outlive it.
  FolderStore(std::filesystem::path root, Memory& memory, TargetOptions options)
      : root_(std::move(root)), memory_(memory), options_(std::move(options)) {}

  Status check() override;
  Status put_file(const std::string& key, const File& file, const Progress& progress) override;
  Status abandon(const std::string& key) override;
  Result<std::optional<Text>> get_text(const std::string& key, std::size_t most_bytes) override;
  Result<bool> put_text(const std::string& key, const std::string& text,
                        const std::optional<Text>& replaces) override;
  Result<std::vector<std::string>> list(const std::string& prefix) override;
  Result<std::optional<std::int64_t>> size(const std::string& key) override;
  Result<std::optional<std::string>> digest(const std::string& key) override;
  Status remove(const std::string& key) override;
  Status fetch(const std::string& key, std::int64_t size, int descriptor,
               const Progress& progress) override;
  [[nodiscard]] std::string shown(const std::string& key) const override {
    return (root_ / key).string();
  }

 private:
  Result<Folder> open_root() const;
  Result<Fd> open(const std::string& key);
  // What `work` returns for the open root, with the right user's rights. Short: what takes time is
  // done with the files that it opens.
  template <typename Work>
  auto in_root(const Work& work) -> std::invoke_result_t<Work, const Folder&>;

  std::filesystem::path root_;
  Memory& memory_;
  TargetOptions options_;
};

}  // namespace trainward::upload
