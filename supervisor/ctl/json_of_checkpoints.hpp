// The documents of the ckpt commands (docs/cli.md): what the checkpoint library answers, as JSON.
// Pure. Fields are only ever added.
#pragma once

#include "checkpoint/tools/diff.hpp"
#include "checkpoint/tools/inspect.hpp"
#include "checkpoint/tools/repair.hpp"
#include "common/json.hpp"

namespace trainward::ctl {

json::object json_of(const checkpoint::Summary& summary);

// `with_tensors`: each section has a list of them.
json::object json_of(const checkpoint::Inspection& found, bool with_tensors);

json::object json_of(const checkpoint::Diff& diff, const std::filesystem::path& first,
                     const std::filesystem::path& second);

json::object json_of(const checkpoint::Repair& repair, const std::filesystem::path& root,
                     bool dry_run);

}  // namespace trainward::ctl
