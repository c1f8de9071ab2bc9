// One checkpoint into the repository: read the branch, send what is missing, commit onto what was
// read, tag. However often it is cut off and begun again, the checkpoint is committed once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/hub/branch.hpp"
#include "supervisor/courier/upload/hub/hub_api.hpp"
#include "supervisor/courier/upload/hub/hub_layout.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload::hub {

class Publisher {
 public:
  // They outlive it. `squashes`: each commit takes the place of the history before it.
  Publisher(Api& api, Memory& memory, bool squashes)
      : api_(api), memory_(memory), squashes_(squashes) {}

  Result<Published> publish(const Package& package, const Progress& progress);
  // What is remembered of a package.
  Status forget(const std::string& program, const std::string& name);

 private:
  // How files that are missing go up.
  struct Split {
    std::vector<const File*> objects;
    std::vector<const File*> regular;
  };

  Result<bool> is_tagged(const Package& package, const Record& record);
  Result<std::vector<const File*>> missing(const Package& package, const Change& change,
                                           const Contents& there);
  Result<Split> split(const std::vector<const File*>& files, const Change& change);
  Result<Operations> operations_for(const Package& package, const Change& change,
                                    const Contents& there, const Split& split);
  Status add_texts(Operations& operations, const Package& package, const Change& change,
                   const Contents& there);
  Status add_attributes(Operations& operations, const Contents& there);
  Status tag_leaving(const Change& change, const std::string& commit);
  // Until a commit whose answer was lost can be there no more; 0: none is under way.
  Result<std::int64_t> settling_ms(const std::string& prefix);
  // Until commits are taken again; 0: they are, as far as is known.
  Result<std::int64_t> quota_ms();
  tl::unexpected<Error> wait_for(std::int64_t ms, Error error);
  Status ensure_tag(const Record& record, const std::string& commit);
  Result<Published> finish(const Package& package, const Record& record, std::string commit,
                           std::int64_t sent_bytes);

  Api& api_;
  Memory& memory_;
  bool squashes_;
};

}  // namespace trainward::upload::hub
