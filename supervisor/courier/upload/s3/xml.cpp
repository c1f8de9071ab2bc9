#include "supervisor/courier/upload/s3/xml.hpp"

#include <cstring>
#include <pugixml.hpp>
#include <sstream>

namespace trainward::upload::s3 {
namespace {

constexpr std::size_t most_bytes = 4U << 20U;
constexpr std::size_t keys_of_a_portion = 1'000;  // a portion of a listing has no more
constexpr std::size_t longest_value = 4096;

// No entities of its own, no external ones: pugixml reads no document types.
bool parse(std::string_view xml, pugi::xml_document& document) {
  if (xml.empty() || xml.size() > most_bytes) return false;
  return static_cast<bool>(document.load_buffer(xml.data(), xml.size(), pugi::parse_default));
}

std::string value_of(const pugi::xml_node& node, const char* name) {
  std::string value = node.child_value(name);
  return value.size() > longest_value ? std::string() : value;
}

}  // namespace

Refusal read_refusal(std::string_view xml) {
  pugi::xml_document document;
  if (!parse(xml, document)) return {};
  const pugi::xml_node error = document.child("Error");
  return {value_of(error, "Code"), value_of(error, "Region")};
}

std::string read_upload_id(std::string_view xml) {
  pugi::xml_document document;
  if (!parse(xml, document)) return {};
  return value_of(document.child("InitiateMultipartUploadResult"), "UploadId");
}

std::optional<Listing> read_listing(std::string_view xml) {
  pugi::xml_document document;
  if (!parse(xml, document)) return std::nullopt;
  const pugi::xml_node result = document.child("ListBucketResult");
  if (!result) return std::nullopt;
  Listing out;
  for (const pugi::xml_node& object : result.children("Contents")) {
    if (out.keys.size() == keys_of_a_portion) break;
    out.keys.push_back(value_of(object, "Key"));
  }
  if (std::strcmp(result.child_value("IsTruncated"), "true") == 0) {
    out.next = value_of(result, "NextContinuationToken");
  }
  return out;
}

std::vector<OpenUpload> read_open_uploads(std::string_view xml) {
  std::vector<OpenUpload> out;
  pugi::xml_document document;
  if (!parse(xml, document)) return out;
  for (const pugi::xml_node& upload :
       document.child("ListMultipartUploadsResult").children("Upload")) {
    if (out.size() == keys_of_a_portion) break;
    out.push_back({value_of(upload, "Key"), value_of(upload, "UploadId")});
  }
  return out;
}

std::string complete_text(const std::vector<std::string>& etags) {
  pugi::xml_document document;
  pugi::xml_node upload = document.append_child("CompleteMultipartUpload");
  int number = 0;
  for (const std::string& etag : etags) {
    pugi::xml_node part = upload.append_child("Part");
    part.append_child("PartNumber").text().set(++number);
    part.append_child("ETag").text().set(etag.c_str());
  }
  std::ostringstream out;
  document.save(out, "", pugi::format_raw | pugi::format_no_declaration);
  return out.str();
}

}  // namespace trainward::upload::s3
