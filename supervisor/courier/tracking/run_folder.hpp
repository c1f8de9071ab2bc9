// The folder of a run's event files, below the folder that the user named: LOGDIR/PROGRAM.
//
// It is ours when the mark in it names this run. Another's folder, an older run's, a file or a link
// of that name stays as it is, and the run's own is LOGDIR/PROGRAM-2 and so on. Nothing is opened
// or removed through a link, and nothing is removed but what this class has made. Root does all of
// it with the rights of the user who could redirect the path there (path_trust.hpp, rights_in()).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/credentials.hpp"
#include "common/os/fd.hpp"
#include "common/os/folder.hpp"

namespace trainward::tracking {

// Whose folder it is.
struct RunMark {
  std::string program;
  std::string run;      // differs from run to run of a program
  std::string kept_by;  // "trainwardd" goes on with it; "export" has made it once
};

// An open folder that is ours.
class RunFolder {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] std::string name() const { return path().filename().string(); }
  // Opened for reading and writing. `make`: it may be missing.
  [[nodiscard]] Result<Fd> file(const std::string& name, bool make) const;
  // `name` is still the file that `fd` has open.
  [[nodiscard]] bool has(const std::string& name, const Fd& fd) const;
  // What was made or renamed in it is on the disk.
  [[nodiscard]] Status sync() const { return folder_.sync(); }

 private:
  friend class LogFolder;
  RunFolder(Folder folder, std::optional<Credentials> rights)
      : folder_(std::move(folder)), rights_(std::move(rights)) {}
  Folder folder_;
  std::optional<Credentials> rights_;
};

// The folder that the user named, in which each run has one.
class LogFolder {
 public:
  // Made when it is missing.
  static Result<LogFolder> open(const std::filesystem::path& path);

  // The folder that bears this mark, no matter who keeps it; kind permanent with an empty `where`
  // if there is no such folder.
  [[nodiscard]] Result<RunFolder> find(const RunMark& mark) const;
  // Who keeps the one that find() would find.
  [[nodiscard]] Result<std::string> keeper(const RunMark& mark) const;

  // An empty one under a name of its own, where it is built; what an earlier try left is removed.
  [[nodiscard]] Result<RunFolder> build(const RunMark& mark) const;
  // It takes the place of the one with the same mark, which goes, or a free name. Its files, until
  // now "part-00000001" and so on, get their names: a watcher of the folder sees all at once.
  [[nodiscard]] Result<RunFolder> publish(const RunMark& mark,
                                          const std::vector<std::string>& names) const;
  static std::string part_name(std::size_t number);  // from 1

 private:
  LogFolder(Folder folder, std::optional<Credentials> rights)
      : folder_(std::move(folder)), rights_(std::move(rights)) {}
  enum class Found { free, ours, taken };
  [[nodiscard]] Result<Found> look(const std::string& name, const RunMark& mark) const;
  [[nodiscard]] Result<Folder> find_folder(const RunMark& mark) const;
  [[nodiscard]] Result<Folder> build_folder(const RunMark& mark) const;
  [[nodiscard]] Result<Folder> publish_folder(const RunMark& mark,
                                              const std::vector<std::string>& names) const;
  [[nodiscard]] Status put_in_place(const RunMark& mark, const std::string& name,
                                    Found found) const;
  [[nodiscard]] Status remove_ours(const std::string& name) const;
  // A Folder that `work` returns, as a run's.
  template <typename Work>
  [[nodiscard]] Result<RunFolder> of_run(const Work& work) const;

  Folder folder_;
  std::optional<Credentials> rights_;
};

}  // namespace trainward::tracking
