#include "supervisor/courier/net/address.hpp"

#include <curl/curl.h>

#include <memory>

#include "supervisor/courier/net/http_client.hpp"

namespace trainward::net {
namespace {

using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

Url parsed(std::string_view text) {
  Url url(curl_url(), &curl_url_cleanup);
  // libcurl takes the first word of "http:///word" for the host; it may be part of a secret.
  if (text.find('\0') != std::string_view::npos || text.find(":///") != std::string_view::npos ||
      !url ||
      curl_url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), CURLU_NON_SUPPORT_SCHEME) !=
          CURLUE_OK) {
    url.reset();
  }
  return url;
}

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return "";
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

}  // namespace

std::optional<Origin> origin_of(std::string_view text) {
  const Url url = parsed(text);
  if (!url) return std::nullopt;
  Origin origin{part(url.get(), CURLUPART_SCHEME), part(url.get(), CURLUPART_HOST),
                part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  if (origin.host.empty() || (origin.scheme != "http" && origin.scheme != "https")) {
    return std::nullopt;
  }
  return origin;
}

std::optional<std::string> resolved(std::string_view base, std::string_view location) {
  const Url url = parsed(base);
  if (!url || location.find('\0') != std::string_view::npos ||
      curl_url_set(url.get(), CURLUPART_URL, std::string(location).c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  return part(url.get(), CURLUPART_URL);
}

std::string shown_host(std::string_view text) {
  const Url url = parsed(text);
  if (!url) return "?";
  const std::string host = part(url.get(), CURLUPART_HOST);
  const std::string port = part(url.get(), CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
  if (host.empty()) return "?";
  return port.empty() ? host : host + ":" + port;
}

}  // namespace trainward::net
