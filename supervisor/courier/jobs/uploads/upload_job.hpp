// Brings one program's checkpoints to one target: decides by policy.hpp, opens, publishes, and
// keeps on record what came of it, so that another process goes on where this one was ended.
#pragma once

#include <filesystem>
#include <memory>

#include "supervisor/courier/base/job.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::courier {

// `target`: one of the order's. `state_dir`: where copies in another form lie while they are made.
std::unique_ptr<Job> make_upload_job(const orders::UploadOrder& order, const orders::Target& target,
                                     const net::Settings& network,
                                     const std::filesystem::path& state_dir);

}  // namespace trainward::courier
