// What a client has sent, as a Request, or the answer that refuses it.
//
// Malformed requests are refused with 400, and with 403 those that a web page makes a browser send:
// where somebody has forwarded the socket to a TCP port (ssh -L), any page that is open there could
// reach it. Pure.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <tl/expected.hpp>

#include "supervisor/api/http.hpp"

namespace trainward::api {

using Message = boost::beast::http::request<boost::beast::http::string_body>;

tl::expected<Request, Response> request_of(const Message& message);

// For what could not even be read: 400, 413 or 431; nothing when the client is gone.
std::optional<Response> refusal_of(const boost::beast::error_code& error);

}  // namespace trainward::api
