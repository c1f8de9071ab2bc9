// The files of this host, or of a fake tree below a root folder. A read blocks for as long as the
// kernel (or a FIFO) does: only for children that may be killed.
#pragma once

#include <filesystem>
#include <functional>
#include <utility>

#include "hwprobe/stages/files.hpp"

namespace trainward::hwprobe {

class LiveFiles : public Files {
 public:
  using Wait = std::function<void(std::chrono::milliseconds)>;

  LiveFiles(std::filesystem::path root, Wait wait)
      : root_(std::move(root)), wait_(std::move(wait)) {}
  Reading answer(std::string_view verb, std::string_view argument) override;

 private:
  std::filesystem::path root_;
  Wait wait_;
};

}  // namespace trainward::hwprobe
