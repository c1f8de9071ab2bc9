// Whose certificates are believed when the configuration does not say: SSL_CERT_FILE,
// CURL_CA_BUNDLE and SSL_CERT_DIR as with curl's program; else what libcurl was built with, and on
// machines that keep it elsewhere (the bundle runs on any) the first of the usual places.
#pragma once

#include <string>

namespace trainward::net {

struct Trusted {
  std::string file;    // "": libcurl's own
  std::string folder;  // "": libcurl's own
};

Trusted trusted_certificates(const std::string& configured);

}  // namespace trainward::net
