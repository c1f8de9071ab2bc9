#include "supervisor/courier/net/trusted.hpp"

#include <curl/curl.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <system_error>

namespace trainward::net {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

bool is_there(const char* path) {
  std::error_code error;
  return path != nullptr && std::filesystem::exists(path, error);
}

}  // namespace

Trusted trusted_certificates(const std::string& configured) {
  if (!configured.empty()) return {configured, ""};
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (std::string file = variable(name); !file.empty()) return {std::move(file), ""};
  }
  if (std::string folder = variable("SSL_CERT_DIR"); !folder.empty()) {
    return {"", std::move(folder)};
  }
  const curl_version_info_data* built = curl_version_info(CURLVERSION_NOW);
  if (is_there(built->cainfo) || is_there(built->capath)) return {};
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (is_there(file)) return {file, ""};
  }
  return {};
}

}  // namespace trainward::net
