// The entries of an open folder, one at a time: of a million names one is in memory.
#pragma once

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <string>

#include "common/os/fd.hpp"

namespace trainward {

class Listing {
 public:
  // Of the folder that `folder` has open; that descriptor's own position does not matter. Empty if
  // unreadable, with errno set; if `folder` is negative, errno is from the failed open.
  explicit Listing(int folder) {
    if (folder < 0) return;
    Fd copy(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!copy) return;
    entries_.reset(::fdopendir(copy.get()));
    if (entries_) (void)copy.release();
  }
  explicit operator bool() const { return entries_ != nullptr; }

  // Without "." and "..", in no order; valid until the next call. Null: the end, where errno is 0,
  // or an error.
  const char* next() {
    do {
      errno = 0;
      const dirent* entry = ::readdir(entries_.get());
      if (entry == nullptr) return nullptr;
      name_ = entry->d_name;
    } while (name_ == "." || name_ == "..");
    return name_.c_str();
  }
  void rewind() { ::rewinddir(entries_.get()); }

 private:
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  std::unique_ptr<DIR, Close> entries_;
  std::string name_;
};

}  // namespace trainward
