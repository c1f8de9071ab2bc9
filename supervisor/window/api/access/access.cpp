#include "supervisor/window/api/access/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "common/base/text.hpp"
#include "supervisor/window/api/access/cookie.hpp"
#include "supervisor/window/api/access/login_form.hpp"
#include "supervisor/window/api/access/login_page.hpp"
#include "supervisor/window/api/http/http_pipe.hpp"

namespace trainward::api {
namespace {

using Refusal = tl::unexpected<Response>;

constexpr std::string_view used_up =
    "This link no longer works: it was opened before, its minute is over, or the daemon "
    "has been restarted since. Ask for another with trainwardctl open.";

// What stands behind "Bearer"; nothing when the header is there for somebody else.
std::optional<std::string> bearer_token(const Request& request) {
  const std::string header = request.header("authorization");
  constexpr std::string_view scheme = "bearer ";
  if (lower_case(header.substr(0, scheme.size())) != scheme) return std::nullopt;
  return std::string(trim(std::string_view(header).substr(scheme.size())));
}

Requester holder_of(const Key& key) { return {key.role, "token " + key.name}; }

// Browsers fetch ahead what a person may be about to open, and that would use a link up.
bool is_ahead_of_time(const Request& request) {
  for (const char* header : {"sec-purpose", "purpose", "x-moz", "x-purpose"}) {
    const std::string value = lower_case(request.header(header));
    if (value.find("prefetch") != std::string::npos || value.find("preview") != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Somebody went there, and not a picture, a frame or a script; old browsers do not say.
bool is_navigation(const Request& request) {
  const std::string mode = request.header("sec-fetch-mode");
  const std::string destination = request.header("sec-fetch-dest");
  return (mode.empty() || mode == "navigate") && (destination.empty() || destination == "document");
}

bool is_form(const Request& request) {
  return lower_case(request.header("content-type"))
      .starts_with("application/x-www-form-urlencoded");
}

bool wants_a_page(const Request& request) {
  return (request.method == "GET" || request.method == "HEAD") &&
         request.header("accept").find("text/html") != std::string::npos;
}

// As the configuration has them, so that it needs no escapes in an address.
bool is_program_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.' || c == '-';
         });
}

Response not_here(const Request& request, const std::string& allowed) {
  Response refusal = error_response(405, {ErrorKind::usage, "only " + allowed + " is understood",
                                          request.method + " " + request.path, ""});
  refusal.headers["Allow"] = allowed;
  return refusal;
}

// What this wrapper answers itself; nothing: somebody else does.
std::optional<Response> answer(Access& access, const Request& request) {
  if (request.path == "/login") {
    if (request.method == "POST") return access.log_in(request);
    if (request.method == "GET" || request.method == "HEAD") return access.follow(request);
    return not_here(request, "GET, HEAD, POST");
  }
  if (request.path != "/logout") return std::nullopt;
  return request.method == "POST" ? access.log_out(request) : not_here(request, "POST");
}

}  // namespace

void Access::replace(Keys keys) {
  keys_ = std::move(keys);
  logins_.keep(keys_);
  end_streams();
}

Result<json::value> Access::link(const Request& request, Role role, const std::string& program) {
  if (!request.peer.user) {
    return fail(ErrorKind::permanent, "links are given over the Unix socket only", "",
                "type `trainwardctl open` on the machine where trainwardd runs");
  }
  auto base = base_();
  if (!base) return propagate(base);
  if (base->empty()) {
    return fail(ErrorKind::permanent,
                "this trainwardd listens on no address that a browser reaches", "",
                "add `listen: 127.0.0.1:8420` to the configuration, then `trainwardctl reload`");
  }
  if (!program.empty() && !is_program_name(program)) {
    return fail(ErrorKind::usage, "no such program", program,
                "`trainwardctl status` lists the programs");
  }
  auto code = links_.make({{role, "link of " + request.by.name}, program}, clock_());
  if (!code) return propagate(code);
  return json::object{{"url", *base + "/login?code=" + *code},
                      {"expires_in_s", Links::lifetime_ms / 1000}};
}

Response Access::wrong(const Request& request, Response answer) {
  const std::string place = from(request);
  const std::int64_t wait_ms = tries_.wait_ms(place, clock_());
  if (wait_ms == 0) {
    tries_.wrong(place, clock_());
    return answer;
  }
  const std::int64_t seconds = (wait_ms + 999) / 1000;
  Response refusal = error_response(
      429, {ErrorKind::transient, "too many wrong tokens or links from here", place,
            fmt::format("try again in {} s; a right one is taken at any time", seconds)});
  refusal.headers["Retry-After"] = std::to_string(seconds);
  return refusal;
}

tl::expected<Access::Admitted, Response> Access::requester(const Request& request) {
  if (request.peer.user) return Admitted{request.by, nullptr};
  if (const auto token = bearer_token(request)) {
    if (const auto key = keys_.find(*token)) {
      tries_.right(from(request));
      return Admitted{holder_of(*key), [this, key = *key] { return keys_.has(key); }};
    }
    Response refusal = error_response(
        401, {ErrorKind::usage, "this token is not configured", request.method + " " + request.path,
              "compare it with the files under `tokens:`; after a change: trainwardctl update"});
    refusal.headers["WWW-Authenticate"] = R"(Bearer realm="trainward", error="invalid_token")";
    return Refusal(wrong(request, std::move(refusal)));
  }
  for (const std::string& id : session_ids(request)) {
    if (auto by = logins_.find(id, from(request), clock_())) {
      return Admitted{std::move(*by), [this, id] { return logins_.has(id, clock_()); }};
    }
  }
  return Admitted{};
}

void Access::ends_with(const std::shared_ptr<Pipe>& pipe, std::function<bool()> still) {
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  streams_.push_back(pipe);
  pipe->only_while(std::move(still));
}

void Access::end_streams() {
  for (const auto& stream : std::vector<std::weak_ptr<Pipe>>(streams_)) {
    if (const auto pipe = stream.lock()) pipe->check();
  }
}

Response Access::let_in(const Request& request, Requester by, std::optional<Key> key,
                        const std::string& program) {
  const std::string place = from(request);
  // One login a browser: what it had before ends.
  for (const std::string& id : session_ids(request)) logins_.end(id, place);
  // Over TLS the browser keeps the cookie to servers with a certificate of that name; and proxies,
  // which may be many, come and go.
  const bool tls = is_behind_tls(request);
  auto id = logins_.begin(std::move(by), tls ? "" : place, std::move(key), clock_());
  end_streams();
  if (!id) return error_response(503, id.error());
  tries_.right(place);
  Response response = see_other(program.empty() ? "/" : "/programs/" + program);
  response.headers["Set-Cookie"] = session_cookie(*id, tls);
  return response;
}

Response Access::page(int status, std::string_view said) const {
  return login_page(status, said, !keys_.empty(), style_);
}

Response Access::follow(const Request& request) {
  const auto code = request.query.find("code");
  if (code == request.query.end()) return page(200, "");
  if (is_ahead_of_time(request)) {
    return page(403, "This link is for a person to open, not to be fetched ahead of time.");
  }
  if (request.method != "GET" || !is_navigation(request)) {
    return page(403, "This link is for a person to open, in a window of its own.");
  }
  auto link = links_.take(code->second, clock_());
  if (!link) return wrong(request, page(403, used_up));
  return let_in(request, std::move(link->by), std::nullopt, link->program);
}

Response Access::log_in(const Request& request) {
  const auto fields = is_form(request) ? form_fields(request.body) : std::nullopt;
  if (!fields || !fields->contains("token")) {
    return error_response(400, {ErrorKind::usage, "this is no form with a field 'token'",
                                "POST /login", "programs send `Authorization: Bearer TOKEN`"});
  }
  const auto key = keys_.find(trim(fields->at("token")));
  if (!key) return wrong(request, page(401, "This token is not configured."));
  return let_in(request, holder_of(*key), key, "");
}

Response Access::log_out(const Request& request) {
  for (const std::string& id : session_ids(request)) logins_.end(id, from(request));
  end_streams();
  Response response = see_other("/login");
  response.headers["Set-Cookie"] = ended_cookie(is_behind_tls(request));
  return response;
}

Handler with_access(Access& access, Handler next) {
  return [&access, next = std::move(next)](const Request& request, const Respond& respond) {
    if (auto mine = answer(access, request)) return respond(std::move(*mine));
    auto admitted = access.requester(request);
    if (!admitted) return respond(std::move(admitted.error()));
    Request known = request;
    known.by = std::move(admitted->by);
    if (admitted->still) {
      return next(known,
                  Respond(
                      [&access, respond, still = std::move(admitted->still)](Response response) {
                        if (response.pipe) access.ends_with(response.pipe, still);
                        respond(std::move(response));
                      },
                      [respond] { return respond.wanted(); }));
    }
    if (known.by.role != Role::nobody || !wants_a_page(request)) return next(known, respond);
    // A person sees a page and no document of JSON.
    next(known, Respond(
                    [respond,
                     page = access.follow({.method = "GET", .path = "/login"})](Response response) {
                      if (response.status != 401) return respond(std::move(response));
                      Response login = page;
                      login.status = 401;
                      if (const auto header = response.headers.find("WWW-Authenticate");
                          header != response.headers.end()) {
                        login.headers.insert(*header);
                      }
                      respond(std::move(login));
                    },
                    [respond] { return respond.wanted(); }));
  };
}

void add_login_links(Table& table, Access& access) {
  const Table::Parameters parameters{{.name = "role", .words = {"viewer", "operator"}}};
  const auto give = [&access](const Asked& asked, const Respond& respond,
                              const std::string& program) {
    const Role role = asked.word("role", "operator") == "viewer" ? Role::viewer : Role::operates;
    auto link = access.link(asked.request(), role, program);
    if (link) return respond(json_response(*link));
    if (link.error().kind != ErrorKind::permanent) return respond(failed(link.error(), 404));
    respond(error_response(asked.request().peer.user ? 409 : 403, link.error()));
  };
  table.post("/v1/login-link", parameters,
             [give](const Asked& asked, const Respond& respond) { give(asked, respond, ""); });
  table.post(
      "/v1/programs/*/login-link", parameters,
      [give](const Asked& asked, const Respond& respond) { give(asked, respond, asked.name()); });
}

}  // namespace trainward::api
