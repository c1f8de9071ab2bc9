#include "supervisor/courier/net/transfer_error.hpp"

#include <utility>

namespace trainward::net {
namespace {

// OpenSSL's numbers, of which libcurl hands on the one that decided.
Error certificate_error(long verify, std::string host) {
  const auto error = [&](const char* what, const char* hint) {
    return Error{ErrorKind::permanent, what, std::move(host), hint};
  };
  constexpr const char* trust =
      "name the file with the certificate authority that signed it, or see whether the address is "
      "right";
  switch (verify) {
    case 9:
      return error("its certificate is not valid yet", "see whether this machine's clock is right");
    case 10:
      return error("its certificate has expired",
                   "see whether this machine's clock is right; else the server needs a new one");
    case 18:
    case 19:
      return error("its certificate is signed by itself, which nobody has to believe", trust);
    case 2:
    case 20:
    case 21:
      return error("its certificate is signed by somebody who is not trusted here", trust);
    default:
      return error("its certificate does not prove that it is this server", trust);
  }
}

}  // namespace

Error transfer_error(CURLcode code, long verify, long proxy_status, std::string host) {
  const auto error = [&](ErrorKind kind, std::string what, const char* hint = "") {
    return Error{kind, std::move(what), std::move(host), hint};
  };
  if (proxy_status >= 400) {
    return error(proxy_status >= 500 ? ErrorKind::transient : ErrorKind::permanent,
                 fmt::format("the proxy refused to connect (status {})", proxy_status),
                 "see what the proxy asks for, or leave it out with NO_PROXY");
  }
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
      return certificate_error(verify, std::move(host));
    case CURLE_SSL_CACERT_BADFILE:
      return error(ErrorKind::permanent, "the file of trusted certificates cannot be read",
                   "see that it exists and holds certificates in PEM form");
    case CURLE_SSL_CONNECT_ERROR:
      return error(ErrorKind::transient, "no agreement about encryption with the server",
                   "TLS 1.2 or newer is needed; see whether the port speaks TLS");
    case CURLE_URL_MALFORMAT:
      return error(ErrorKind::permanent, "this is no address of a server");
    case CURLE_COULDNT_RESOLVE_HOST:
      return error(ErrorKind::transient, "the name of the server is not known",
                   "see its spelling, and whether this machine has a name server");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return error(ErrorKind::transient, "the name of the proxy is not known",
                   "see the proxy in the configuration, or HTTPS_PROXY");
    case CURLE_PROXY:
      return error(ErrorKind::transient, "the proxy did not connect",
                   "see the proxy in the configuration, or HTTPS_PROXY");
    case CURLE_COULDNT_CONNECT:
      return error(ErrorKind::transient, "no connection",
                   "see whether the server runs and may be reached from here");
    case CURLE_OPERATION_TIMEDOUT:
      return error(ErrorKind::transient, "the server was too slow");
    case CURLE_GOT_NOTHING:
      return error(ErrorKind::transient, "the server closed the connection without an answer");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return error(ErrorKind::transient, "the connection broke");
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_FILESIZE_EXCEEDED:
      return error(ErrorKind::corrupt, "what came back is no answer in HTTP",
                   "see whether the address and its port are right");
    case CURLE_OUT_OF_MEMORY:
      return error(ErrorKind::transient, "no memory for the exchange");
    default:
      return error(ErrorKind::transient,
                   fmt::format("the exchange failed: {}", curl_easy_strerror(code)));
  }
}

}  // namespace trainward::net
