// Which requests a browser may have been made to send by somebody else's page, and who asks for a
// host that is not this one. Pure.
//
// Any page that is open on a person's machine can send requests to a port of it, also to one that
// `ssh -L` has forwarded to the Unix socket, and a page may have its own name point here (DNS
// rebinding). So, on every listener:
//
//   Host     names this machine: localhost, 127.0.0.1, [::1] or one of `hosts`, with any port.
//   Origin   is absent, or that of the Host itself; Sec-Fetch-Site absent, `same-origin` or `none`.
//
// and whatever is neither GET nor HEAD also shows that no foreign page can have sent it without
// asking first, by one of: `Content-Type: application/json`, `X-Trainward: 1`, the browser's own
// word that a page of ours sent it (Origin equal to the Host, `Sec-Fetch-Site: same-origin`), or
// nothing at all of a browser (Origin, Sec-Fetch-*, Referer) over the Unix socket, as older clients
// do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

struct Guard {
  std::vector<std::string> hosts = {};  // without ports; in any case

  // The answer that refuses it: 403; nothing when it may go on.
  [[nodiscard]] std::optional<Response> refusal(const Request& request) const;
  // "localhost:8420" and the like. False of an empty text.
  [[nodiscard]] bool names_this_machine(const std::string& host) const;
};

}  // namespace trainward::api
