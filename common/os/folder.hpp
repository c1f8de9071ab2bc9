// A folder held by its descriptor, and what is done below it.
//
// A path is looked up again at each call, and any user who may write into one of its folders can
// put a link in between: root then opens, renames or deletes something else. What is done through a
// Folder stays below the folder that was opened: no name in it leads through a link, "..", or out
// of it (openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; O_NOFOLLOW for each part on
// kernels before 5.6 and under filters that refuse the call). tests/paths finds calls by path in
// the programs that may run as root.
//
// Names are relative, of one part or several ("a/b"); an empty part, "." or ".." is refused (kind
// usage), a link or a file on the way as well (kind permanent, "is a symbolic link, …").
// Thread-safe as far as the file system is; an object is used by one thread at a time.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

class Folder {
 public:
  // By a path, links in it followed, but for `last`: what may lead there is the caller's to know
  // (path_trust.hpp).
  enum class Last { may_be_link, no_link };
  static Result<Folder> open(const std::filesystem::path& path, Last last = Last::may_be_link);
  // `fd`: of a folder; `path`: how errors call it.
  Folder(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  [[nodiscard]] Result<Folder> enter(const std::string& name) const;
  // Empty if it, or a folder on the way, does not exist.
  [[nodiscard]] Result<std::optional<Folder>> find(const std::string& name) const;
  // The same, made before where it is missing; each new folder is made durable.
  [[nodiscard]] Result<Folder> make(const std::string& name, unsigned mode = 0750) const;
  // For "a/b/file" that is to be in it: "a/b"; for "file" this one.
  [[nodiscard]] Result<Folder> make_for(const std::string& file, unsigned mode = 0750) const;
  // One that was not there; `name` is of one part.
  [[nodiscard]] Result<Folder> make_new(const std::string& name, unsigned mode = 0750) const;
  [[nodiscard]] Result<Folder> again() const;  // with a descriptor of its own

  // A regular file and nothing else, as open_regular() has it; never through a link.
  [[nodiscard]] Result<Fd> open_file(const std::string& name, int flags,
                                     unsigned mode = 0640) const;
  // Refuses one longer than max_bytes (kind corrupt).
  [[nodiscard]] Result<std::string> read(const std::string& name, std::size_t max_bytes) const;
  // After a crash at any instant `name` holds the old bytes or the new ones. `temporary`: beside
  // it; empty: a name of this process. One that is there is removed first, never written into.
  [[nodiscard]] Status write_durably(const std::string& name, std::string_view bytes,
                                     unsigned mode = 0640, const std::string& temporary = "") const;

  // Of the entry itself, also of a link; empty if it, or a folder on the way, does not exist.
  [[nodiscard]] Result<std::optional<struct stat>> look(const std::string& name) const;
  // Without "." and "..", in no order; an error past `most`.
  [[nodiscard]] Result<std::vector<std::string>> names(std::size_t most = 1'000'000) const;

  // Between this folder and another, or within it. `replace`: what has the new name goes; `keep`:
  // it stays, and that is an error, on file systems that cannot see to it themselves as well.
  enum class Existing { replace, keep };
  [[nodiscard]] Status rename(const std::string& from, const Folder& to, const std::string& name,
                              Existing existing = Existing::replace) const;
  [[nodiscard]] Status rename(const std::string& from, const std::string& name,
                              Existing existing = Existing::replace) const {
    return rename(from, *this, name, existing);
  }
  // Succeeds when it, or a folder on the way, does not exist. A folder must be empty.
  [[nodiscard]] Status remove_file(const std::string& name) const;
  [[nodiscard]] Status remove_folder(const std::string& name) const;
  // The same with all that is in it, as folder_removal.hpp says.
  [[nodiscard]] Status remove_tree(const std::string& name) const;
  [[nodiscard]] Status remove_contents() const;

  [[nodiscard]] Status sync() const;  // what has appeared and gone in it

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  // The folder that holds the last part of a name; `inner` is empty when that is this one.
  struct Place {
    Fd inner;
    int folder = -1;
    std::string last;
  };
  [[nodiscard]] Status check(const std::string& name) const;
  [[nodiscard]] tl::unexpected<Error> cannot_enter(int problem, const std::string& name) const;
  [[nodiscard]] Result<Place> place(const std::string& name) const;
  [[nodiscard]] Result<std::optional<Place>> find_place(const std::string& name) const;
  [[nodiscard]] Status remove(const std::string& name, int flags) const;

  Fd fd_;
  std::filesystem::path path_;
};

}  // namespace trainward
