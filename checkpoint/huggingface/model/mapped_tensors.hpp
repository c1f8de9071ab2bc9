// The tensors in the safetensors files of a folder, mapped read-only: nothing is copied, and only
// headers are read when they are opened.
//
// In: a folder of foreign origin and the names of files in it, or an index that says which tensor
// lies in which file. Out: tensors in the order of their names; their bytes are little-endian, may
// begin at any address, and live as long as the object (also after a move). Links are followed:
// that is how the hub's cache keeps its files. Refused (kind corrupt): what format/safetensors.hpp
// refuses, a file that is missing, and a tensor that lies twice, in another file than the index
// says, or in none. A disk that fails under a mapping ends the process (SIGBUS).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/os/mapping.hpp"

namespace trainward::checkpoint::huggingface {

struct WeightsFile {
  std::string name;  // in the folder
  Fd fd;
  std::uint64_t bytes = 0;
  Mapping mapping;
};

class MappedTensors {
 public:
  MappedTensors() = default;  // none
  static Result<MappedTensors> of_file(const std::filesystem::path& folder,
                                       const std::string& name);
  static Result<MappedTensors> of_index(const std::filesystem::path& folder,
                                        const std::string& name);

  [[nodiscard]] const std::vector<TensorView>& all() const { return tensors_; }
  [[nodiscard]] const TensorView* find(std::string_view name) const;  // nullptr: not found
  [[nodiscard]] const std::vector<WeightsFile>& files() const { return files_; }  // by name

 private:
  MappedTensors(std::vector<WeightsFile> files, std::vector<TensorView> tensors)
      : files_(std::move(files)), tensors_(std::move(tensors)) {}

  std::vector<WeightsFile> files_;
  std::vector<TensorView> tensors_;
};

}  // namespace trainward::checkpoint::huggingface
