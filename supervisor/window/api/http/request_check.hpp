// What a client has sent, as a Request, or the answer that refuses what is malformed (400). Pure.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <tl/expected.hpp>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

using Message = boost::beast::http::request<boost::beast::http::string_body>;

// `peer` is whose message it is. Over the Unix socket everybody who can open it operates.
tl::expected<Request, Response> request_of(const Message& message, Peer peer);

// For what could not even be read: 400, 413 or 431; nothing when the client is gone.
std::optional<Response> refusal_of(const boost::beast::error_code& error);

}  // namespace trainward::api
