// Bodies of the requests to a Hub. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::upload::hub {

// Of every question about LFS objects, and its answer.
inline constexpr std::string_view lfs_type = "application/vnd.git-lfs+json";

// "me/run" or "run".
std::string create_body(std::string_view repository, bool is_private);

struct Sample {
  std::string path;
  std::int64_t size = 0;
  std::string head;  // its first bytes, at most `sample_bytes`
};
inline constexpr std::size_t sample_bytes = 512;
std::string preupload_body(const std::vector<Sample>& files);

// Objects by SHA-256 with their sizes.
std::string batch_body(const std::map<std::string, std::int64_t>& sizes, std::string_view branch);

// When all parts are there: their ETags as the store answered them, in order.
std::string completion_body(std::string_view oid, const std::vector<std::string>& etags);
std::string verify_body(std::string_view oid, std::int64_t size);

// One commit.
struct Operations {
  struct Object {
    std::string path;
    std::string oid;
    std::int64_t size = 0;
  };
  struct Text {
    std::string path;
    std::string bytes;  // any
  };
  std::string summary;
  std::vector<Object> objects;
  std::vector<Text> texts;
  std::vector<std::string> deleted;  // files
  [[nodiscard]] bool empty() const { return objects.empty() && texts.empty() && deleted.empty(); }
};
// NDJSON. It is taken only where the branch still stands at `parent`.
std::string commit_body(const Operations& operations, std::string_view parent);

// What git calls a file with these bytes.
std::string git_blob(std::string_view bytes);

}  // namespace trainward::upload::hub
