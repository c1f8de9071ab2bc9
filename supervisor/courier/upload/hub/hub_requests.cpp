#include "supervisor/courier/upload/hub/hub_requests.hpp"

#include <fmt/format.h>
#include <nettle/sha1.h>

#include <array>
#include <cstdint>

#include "common/base/base64.hpp"
#include "common/base/json/json.hpp"

namespace trainward::upload::hub {
namespace {

const std::uint8_t* bytes_in(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

void add_line(std::string& body, std::string_view key, json::object value) {
  body += json::serialize(json::object{{"key", key}, {"value", std::move(value)}});
  body += '\n';
}

}  // namespace

std::string create_body(std::string_view repository, bool is_private) {
  const auto slash = repository.find('/');
  json::value organization;
  if (slash != std::string_view::npos) {
    organization = repository.substr(0, slash);
    repository.remove_prefix(slash + 1);
  }
  return json::serialize(json::object{{"name", repository},
                                      {"organization", std::move(organization)},
                                      {"type", "model"},
                                      {"visibility", is_private ? "private" : "public"}});
}

std::string preupload_body(const std::vector<Sample>& files) {
  json::array list;
  for (const Sample& file : files) {
    list.push_back(
        json::object{{"path", file.path}, {"sample", base64(file.head)}, {"size", file.size}});
  }
  return json::serialize(json::object{{"files", std::move(list)}});
}

std::string batch_body(const std::map<std::string, std::int64_t>& sizes, std::string_view branch) {
  json::array objects;
  for (const auto& [oid, size] : sizes) {
    objects.push_back(json::object{{"oid", oid}, {"size", size}});
  }
  return json::serialize(json::object{{"operation", "upload"},
                                      {"transfers", json::array{"basic", "multipart"}},
                                      {"objects", std::move(objects)},
                                      {"hash_algo", "sha256"},
                                      {"ref", json::object{{"name", branch}}}});
}

std::string completion_body(std::string_view oid, const std::vector<std::string>& etags) {
  json::array parts;
  std::int64_t number = 0;
  for (const std::string& etag : etags) {
    parts.push_back(json::object{{"partNumber", ++number}, {"etag", etag}});
  }
  return json::serialize(json::object{{"oid", oid}, {"parts", std::move(parts)}});
}

std::string verify_body(std::string_view oid, std::int64_t size) {
  return json::serialize(json::object{{"oid", oid}, {"size", size}});
}

std::string commit_body(const Operations& operations, std::string_view parent) {
  std::string body;
  add_line(body, "header",
           {{"summary", operations.summary}, {"description", ""}, {"parentCommit", parent}});
  for (const auto& object : operations.objects) {
    add_line(
        body, "lfsFile",
        {{"path", object.path}, {"algo", "sha256"}, {"oid", object.oid}, {"size", object.size}});
  }
  for (const auto& text : operations.texts) {
    add_line(body, "file",
             {{"content", base64(text.bytes)}, {"path", text.path}, {"encoding", "base64"}});
  }
  for (const std::string& path : operations.deleted)
    add_line(body, "deletedFile", {{"path", path}});
  return body;
}

std::string git_blob(std::string_view bytes) {
  const std::string head = fmt::format("blob {}", bytes.size());
  sha1_ctx context{};
  sha1_init(&context);
  sha1_update(&context, head.size() + 1, bytes_in(head));  // with the zero behind it
  sha1_update(&context, bytes.size(), bytes_in(bytes));
  std::array<std::uint8_t, SHA1_DIGEST_SIZE> digest{};
  sha1_digest(&context, digest.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace trainward::upload::hub
