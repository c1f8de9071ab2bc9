// What a branch, a tag or a commit of the repository holds, as far as it is known to us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/hub/hub_api.hpp"
#include "supervisor/courier/upload/hub/hub_layout.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload::hub {

// No Hub takes a larger file that is no LFS object.
inline constexpr std::int64_t largest_regular = 16 << 20;

struct Contents {
  std::string revision;  // what was read
  Files files;
  std::vector<Record> records;  // those that can be read
  std::string unreadable;       // the name of one that cannot; empty: all can
};

// Kind permanent: also a record of a version that is not known.
Result<Contents> read_contents(Api& api, const std::string& revision);

// The record of a checkpoint at a revision; nothing: it has none that can be read, or there is no
// such revision.
Result<std::optional<Record>> read_record(Api& api, const std::string& revision,
                                          const std::string& name);

// Whether that entry holds these bytes. Kind corrupt: the file ends before its size.
Result<bool> holds(const Entry& entry, const File& file);

// All bytes of a small file.
Result<std::string> bytes_of(const File& file);

}  // namespace trainward::upload::hub
