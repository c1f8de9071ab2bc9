// The schema of the run database and how a file gets to its newest version.
//
// A file is ours when its application_id says so; user_version counts the migrations it has seen.
// Each migration is one transaction: a crash leaves the version before or the version after.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {

inline constexpr std::int64_t application_id = 0x54525744;  // "TRWD"

struct Migration {
  int version;
  const char* tables;
};

// In order, versions 1, 2, …
std::span<const Migration> migrations();
int newest_version();
// The views of the newest version: drops those that are there, and makes them.
const std::string& views_text();
// As views.sql has it.
std::string_view views_template();

// Refuses what is not a run database (permanent), what a newer Trainward wrote (permanent) and a
// damaged file (corrupt). An empty file, and one that has to be migrated, pass only for a `writer`.
Status check_file(Connection& connection, bool writer);

// Refuses (permanent) a file in which somebody else has put a trigger, which would change what is
// written, or a view, which would stand in the way of a migration; names it and the SQL that drops
// it. The file is not damaged, so it is not set aside.
Status check_own(Connection& connection);

// Brings a checked file to the newest version, with its views as they belong.
Status migrate(Connection& connection);

}  // namespace trainward::store
