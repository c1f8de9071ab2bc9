#include "supervisor/courier/upload/make_target.hpp"

#include <utility>

#include "common/base/cases.hpp"
#include "supervisor/courier/upload/folder/folder_store.hpp"
#include "supervisor/courier/upload/hub/hub_target.hpp"
#include "supervisor/courier/upload/plain_target.hpp"
#include "supervisor/courier/upload/s3/s3_store.hpp"

namespace trainward::upload {
namespace {

std::unique_ptr<Target> plain(std::unique_ptr<ObjectStore> store, Memory& memory) {
  return std::make_unique<PlainTarget>(std::move(store), memory);
}

}  // namespace

Result<std::unique_ptr<Target>> make_target(const orders::Target& target, Memory& memory,
                                            const TargetOptions& options) {
  using Made = Result<std::unique_ptr<Target>>;
  return std::visit(
      Cases{[&](const orders::FolderPlace& place) -> Made {
              return plain(std::make_unique<FolderStore>(place.folder, memory, options), memory);
            },
            [&](const orders::S3Place& place) -> Made {
              return plain(std::make_unique<s3::S3Store>(place, memory, options), memory);
            },
            [&](const orders::HubPlace& place) -> Made {
              return make_hub_target(place, memory, options);
            }},
      target.place);
}

}  // namespace trainward::upload
