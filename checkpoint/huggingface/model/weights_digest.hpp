// Whether a folder still holds the weights that a run began from.
//
// The digest is SHA-256 over the lines that sha256sum prints of the files, by name (`sha256sum
// model*.safetensors | sha256sum` inside the folder): it reads everything. The identity is what the
// file system knows of the files without reading them (size, inode, times of change of content and
// of the file's record): as long as it is the same, nothing has been written, and the digest need
// not be made again; when it differs, as after a copy, only the digest can tell. A run keeps both
// in its checkpoints.
//
// Uses 4 MiB of memory. One thread; others may use the same weights meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/huggingface/model/mapped_tensors.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

struct FileIdentity {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;  // of the content
  std::int64_t changed_ns = 0;   // of the file's record: it cannot be set back
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

using WeightsIdentity = std::vector<FileIdentity>;  // by name

Result<WeightsIdentity> identity_of(const MappedTensors& weights);
// [{"name", "bytes", "inode", "modified_ns", "changed_ns"}]
json::array to_json(const WeightsIdentity& identity);
Result<WeightsIdentity> parse_identity(const json::array& array);

// 64 hexadecimal digits. `progress` may be empty.
Result<std::string> digest_of(const MappedTensors& weights, const Progress& progress = {});

}  // namespace trainward::checkpoint::huggingface
