// A database file of which no use can be made is kept for a look, under another name beside it:
// FILE.damaged-20261121T180000Z, with its -wal and what else belongs to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "common/base/error.hpp"

namespace trainward::store {

// Renames the file and its companions, durably. Returns the new name of the first.
Result<std::filesystem::path> set_aside(const std::filesystem::path& file, std::int64_t now_ms);

// Whether one was set aside at `since_ms` or later.
bool was_set_aside(const std::filesystem::path& file, std::int64_t since_ms);

// ---- one that is in use, and refuses for good ----

// That the next start is to set it aside, and why; also kept beside it. Refused (permanent) when
// one was within the last hour: what helps then is a look at it by a person.
Status mark_unfit(const std::filesystem::path& file, const std::string& why, std::int64_t now_ms);
// Why, when it is marked; set_aside() takes the mark with it.
std::optional<std::string> marked_unfit(const std::filesystem::path& file);

}  // namespace trainward::store
