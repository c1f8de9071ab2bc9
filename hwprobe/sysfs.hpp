// Boards as the kernel shows them, without opening a device: PCI, the driver's attributes, hwmon.
//
// In: a root folder ("/" or a fake tree), a way to wait, and our own process id (so that we do not
// count as a holder). Out: a report about chip L of each board; chip R has no presence in the
// kernel and stays "not read". Failure: only when the PCI bus cannot be listed at all.
// A read may block in the kernel for tens of seconds during a reset: see source.hpp.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>

#include "hwprobe/source.hpp"
#include "hwprobe/sysfs_files.hpp"

namespace trainward::hwprobe {

class SysfsSource : public Source {
 public:
  using Wait = std::function<void(std::chrono::milliseconds)>;

  SysfsSource(std::filesystem::path root, Wait wait, pid_t self)
      : root_(std::move(root)), wait_(std::move(wait)), self_(self) {}
  Result<Report> look() override;

 private:
  FsRoot root_;
  Wait wait_;
  pid_t self_;
};

}  // namespace trainward::hwprobe
