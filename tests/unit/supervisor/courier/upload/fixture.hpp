// What the tests of uploads share: a memory, checkpoints made of texts, and a count of what is
// published.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "temporary_folder.hpp"

namespace trainward::upload {

// Outlives targets, as courier.db outlives processes.
class TestMemory : public Memory {
 public:
  Result<std::optional<std::string>> get(const std::string& key) override {
    const auto found = values.find(key);
    if (found == values.end()) return std::optional<std::string>();
    return std::optional(found->second);
  }
  Status put(const std::string& key, const std::string& value) override {
    values[key] = value;
    return {};
  }
  Status forget(const std::string& prefix) override {
    std::erase_if(values, [&](const auto& one) { return one.first.starts_with(prefix); });
    return {};
  }
  std::map<std::string, std::string> values;
};

// As a .pt begins that is no zip.
inline constexpr const char* pickle = "\x80\x02}q\x01.";

using Texts = std::vector<std::pair<std::string, std::string>>;

inline Package make_package(const TemporaryFolder& folder, const std::string& name,
                            std::int64_t step, const Texts& files) {
  Package package;
  package.program = "gpt";
  package.name = name;
  package.step = step;
  package.origin = "{checkpoint_dir}/" + name;
  package.saved_ms = 1'000'000 + step;
  for (const auto& [file, text] : files) {
    const auto path = folder.write("source/" + name + "/" + file, text);
    auto fd = open_regular(path, O_RDONLY | O_CLOEXEC);
    EXPECT_TRUE(fd);
    package.files.push_back(
        {file, std::move(*fd), static_cast<std::int64_t>(text.size()), sha256_hex(text), 0});
  }
  return package;
}

}  // namespace trainward::upload
