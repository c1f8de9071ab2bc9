// The cookie of a login. Pure.
//
// Whether there is TLS between browser and daemon only the browser knows: a header that a proxy
// adds (X-Forwarded-Proto) could have been sent by anybody. A browser says it itself: by an Origin
// that begins with https, and by sending Sec-Fetch-* at all to a name that is not this very
// machine, which browsers only do over TLS. Then the cookie is Secure and called
// `__Host-trainward_session`, which no other server of the domain can set. Who lies about it harms
// nobody but its own browser, which will not send the cookie back.
#pragma once

#include <string>
#include <vector>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

// Every id that the request carries: another server on the same name may have set one of its own.
// That of the protected name stands first; at most 8, each of 64 hexadecimal digits.
std::vector<std::string> session_ids(const Request& request);

// Whether the browser that sent it speaks TLS.
bool is_behind_tls(const Request& request);

// Of Set-Cookie.
std::string session_cookie(const std::string& id, bool behind_tls);
std::string ended_cookie(bool behind_tls);

}  // namespace trainward::api
