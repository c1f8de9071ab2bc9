// The few documents that an S3 server answers with, read within bounds, and the one that it is
// sent. What cannot be read is as if it said nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::upload::s3 {

struct Refusal {
  std::string code;    // "NoSuchUpload"; empty: it is no refusal
  std::string region;  // where the bucket lies, if the server says so
};
Refusal read_refusal(std::string_view xml);

std::string read_upload_id(std::string_view xml);  // empty: it names no upload

struct Listing {
  std::vector<std::string> keys;
  std::string next;  // token of the next portion; empty: this was the last
};
std::optional<Listing> read_listing(std::string_view xml);

struct OpenUpload {
  std::string key;
  std::string id;
};
std::vector<OpenUpload> read_open_uploads(std::string_view xml);

// Parts from 1 on, by their ETags.
std::string complete_text(const std::vector<std::string>& etags);

}  // namespace trainward::upload::s3
