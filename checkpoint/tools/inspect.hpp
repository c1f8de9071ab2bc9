// What is in a checkpoint, for people to look at: state, files, tensors by section.
//
// Reads manifest, state and headers, no tensor data: verify() is what says whether it is whole.
// Errors as in verify().
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

struct Inspection {
  struct File {
    std::string name;
    std::uint64_t size = 0;
  };
  struct Tensor {
    TensorInfo info;
    std::string file;
  };
  struct Section {
    std::string name;             // "model" or "optimizer"
    std::vector<Tensor> tensors;  // by name
    std::vector<std::string> files;

    [[nodiscard]] std::uint64_t elements() const;
    [[nodiscard]] std::uint64_t bytes() const;
  };

  Summary summary;
  TrainingState state;
  std::vector<File> files;
  std::vector<Section> sections;
  std::optional<std::string> pin;  // why it is pinned; empty: it is not
  bool latest = false;             // `latest` names it: the newest that was verified
};

Result<Inspection> inspect(const std::filesystem::path& folder);

// True when the file `latest` beside the folder names it.
bool is_latest(const std::filesystem::path& folder);

}  // namespace trainward::checkpoint
