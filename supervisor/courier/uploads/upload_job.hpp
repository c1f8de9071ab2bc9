// Brings one program's checkpoints to one target: decides by policy.hpp, opens, publishes, and
// keeps on record what came of it, so that another process goes on where this one was ended.
#pragma once

#include <memory>

#include "supervisor/courier/job.hpp"
#include "supervisor/net/http_client.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::courier {

// `target`: one of the order's.
std::unique_ptr<Job> make_upload_job(const orders::UploadOrder& order, const orders::Target& target,
                                     const net::Settings& network);

}  // namespace trainward::courier
