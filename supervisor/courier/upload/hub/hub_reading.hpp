// What the repository has published, told, checked and brought back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/hub/hub_api.hpp"
#include "supervisor/courier/upload/hub/hub_layout.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload::hub {

class Reading {
 public:
  explicit Reading(Api& api) : api_(api) {}  // outlives it

  // Those that the branch shows and those that a tag names, the newest first.
  Result<std::vector<Remote>> list(const std::string& program);
  Status verify(const std::string& program, const Remote& remote);
  Status fetch(const std::string& program, const Remote& remote, const Into& into,
               const Progress& progress);

 private:
  struct Found {
    Record record;
    std::string revision;  // where all of its files are
  };
  Result<std::vector<Found>> find_all(const std::string& program);
  Result<Found> find(const std::string& program, const Remote& remote);
  Status check_bytes(const Found& found, const Remote::File& file, const Entry& entry);
  Status fetch_file(const Found& found, const Remote::File& file, int descriptor,
                    const Progress& progress);

  Api& api_;
};

}  // namespace trainward::upload::hub
