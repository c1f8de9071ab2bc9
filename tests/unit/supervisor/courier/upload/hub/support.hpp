// What the tests of the Hub share: a memory on the disk, packages, targets.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/courier/upload/hub/hub_target.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "temporary_folder.hpp"

namespace trainward::upload::test {

// Keys and values in one file, replaced with each change, as a process that may be killed needs it.
class FileMemory : public Memory {
 public:
  explicit FileMemory(std::filesystem::path file) : file_(std::move(file)) {}
  Result<std::optional<std::string>> get(const std::string& key) override;
  Status put(const std::string& key, const std::string& value) override;
  Status forget(const std::string& prefix) override;
  [[nodiscard]] std::string text() const;  // all of it

 private:
  std::filesystem::path file_;
};

struct Content {
  std::string name;
  std::string bytes;
};

// Files made below `folder`/NAME and opened.
Package package_of(const TemporaryFolder& folder, const std::string& name, std::int64_t step,
                   const std::vector<Content>& files);

// Bytes that no one would take for text, of a seed.
std::string noise(std::size_t size, unsigned seed);

// A checkpoint as our trainer writes it, more or less.
std::vector<Content> checkpoint_files(unsigned seed);

// Of the file `token` in `folder`, with no pauses.
std::unique_ptr<Target> target_at(const std::string& endpoint, const std::filesystem::path& token,
                                  Memory& memory, orders::HubPlace place = {},
                                  const hub::Times& times = {{0, 0}, 0},
                                  const TargetOptions& options = {});

}  // namespace trainward::upload::test
