// What libcurl's codes mean to the reader, and whether trying again can help.
#pragma once

#include <curl/curl.h>

#include <string>

#include "common/base/error.hpp"

namespace trainward::net {

// `verify` is what CURLINFO_SSL_VERIFYRESULT says, `proxy_status` CURLINFO_HTTP_CONNECTCODE. Says
// nothing that came from the server or stands in the address beyond its host.
Error transfer_error(CURLcode code, long verify, long proxy_status, std::string host);

}  // namespace trainward::net
