// Who asks, and how somebody who is nobody yet comes in.
//
// Over the Unix socket the kernel has said who it is. Over TCP somebody is who the token says
// (`Authorization: Bearer`), or the cookie of a login; a login is begun by a one-time link, which
// somebody at the Unix socket has asked for, or by a token in the form of the login page. A client
// that sends neither is nobody, and the routes decide what nobody may have.
//
// with_access() puts that into every request (`by`) before it goes on, and answers itself:
//
//   GET /login?code=…   the one-time link: 303 to the page, with the cookie
//   GET /login          the login page
//   POST /login         a form with `token`: 303 to the page, with the cookie
//   POST /logout        ends the login, and the streams it has open: 303 to the login page
//
// A login counts from where it was begun, and from nowhere else: its cookie is of no use to another
// server that the browser sends it to. Right tokens and fresh links are always good; who says wrong
// ones waits (tries.hpp).
//
// A person's browser that asks for a page as nobody gets the login page with the 401. Foreign
// pages' requests were refused before (guard.hpp). Thread: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/window/api/access/access_keys.hpp"
#include "supervisor/window/api/access/links.hpp"
#include "supervisor/window/api/access/logins.hpp"
#include "supervisor/window/api/access/tries.hpp"
#include "supervisor/window/api/access/whence.hpp"
#include "supervisor/window/api/http/http.hpp"
#include "supervisor/window/api/routes/route_table.hpp"

namespace trainward::api {

class Access {
 public:
  // Milliseconds of a clock that never goes back.
  using Clock = std::function<std::int64_t()>;

  Access(Keys keys, Clock clock) : keys_(std::move(keys)), clock_(std::move(clock)) {}

  // Addresses of proxies, in digits: whom they say they ask for is believed.
  void behind(std::vector<std::string> proxies) { proxies_ = std::move(proxies); }

  // Of a configuration read again: logins whose token is gone end.
  void replace(Keys keys);
  // Says where browsers reach the daemon, "http://127.0.0.1:8420"; empty: nowhere. Asked again for
  // each link.
  using Place = std::function<Result<std::string>()>;
  void be_at(Place base) { base_ = std::move(base); }

  // The address of the login page's style sheet.
  void dress(std::string style) { style_ = std::move(style); }

  // {"url", "expires_in_s"}: a link by which a browser comes in once. Kind permanent when there is
  // no listener that a browser could reach, and when it is not asked for over the Unix socket.
  Result<json::value> link(const Request& request, Role role, const std::string& program);

  struct Admitted {
    Requester by;                 // for request.by
    std::function<bool()> still;  // whether what let it in would do so now; empty: always
  };
  // Who asks, or with what the request is refused.
  tl::expected<Admitted, Response> requester(const Request& request);

  // What is being told to somebody ends with what let them in: at once when a login or a token is
  // taken away, and with the next piece or heartbeat when a login's time is over.
  void ends_with(const std::shared_ptr<Pipe>& pipe, std::function<bool()> still);

  Response follow(const Request& request);   // GET /login
  Response log_in(const Request& request);   // POST /login
  Response log_out(const Request& request);  // POST /logout

 private:
  [[nodiscard]] Response page(int status, std::string_view said) const;
  Response let_in(const Request& request, Requester by, std::optional<Key> key,
                  const std::string& program);
  // That it was wrong; or, of too many, that it has to wait.
  Response wrong(const Request& request, Response answer);
  [[nodiscard]] std::string from(const Request& request) const { return whence(request, proxies_); }
  void end_streams();

  Keys keys_;
  Clock clock_;
  std::vector<std::string> proxies_;
  Place base_ = [] { return std::string(); };
  std::string style_;
  Links links_;
  Logins logins_;
  Tries tries_;
  std::vector<std::weak_ptr<Pipe>> streams_;
};

// `access` must outlive the handler, and whatever is sent into the pipes of its answers.
Handler with_access(Access& access, Handler next);

// POST /v1/login-link and /v1/programs/*/login-link, with role=viewer or operator.
void add_login_links(Table& table, Access& access);

}  // namespace trainward::api
