// What courier.db says of uploads, for those who only read it: retention, status, commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::upload {

// SQL that makes the tables and the view v_uploads where they are missing.
std::vector<std::string> upload_tables();

// Checkpoints, by their paths, that are on their way to one of these targets or are tried again:
// retention leaves them. A courier.db that is not there, or cannot be read, holds nothing: what is
// being sent is open anyway.
std::vector<std::filesystem::path> held_checkpoints(const std::filesystem::path& courier_db,
                                                    const std::string& program,
                                                    const std::vector<std::string>& targets);

// Rows of v_uploads with "seconds_left", the newest first, at most `limit`; program "" for all. An
// empty list where nothing was ever sent.
Result<json::array> uploads_json(const std::filesystem::path& courier_db,
                                 const std::string& program, int limit);

// The newest of each program and target, for one line of status: what is under way or fails.
Result<json::array> upload_standing_json(const std::filesystem::path& courier_db);

}  // namespace trainward::upload
