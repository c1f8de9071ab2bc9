#include "supervisor/window/api/access/login_page.hpp"

#include <fmt/format.h>

#include <string>

namespace trainward::api {
namespace {

constexpr std::string_view form = R"(
<form method="post" action="/login">
<p><label for="token">Token</label><br>
<input type="password" id="token" name="token" required autocomplete="current-password" maxlength="512" size="48"></p>
<p><button>Log in</button></p>
</form>
<p>Without a token: type <code>trainwardctl open</code> on the machine where trainwardd runs, and open the address that it prints. It lets you in once, within a minute.</p>
)";

constexpr std::string_view no_form = R"(
<p>Type <code>trainwardctl open</code> on the machine where trainwardd runs, and open the address that it prints. It lets you in once, within a minute.</p>
)";

// Forms of a page without any referrer come from the origin `null`, which only browsers that also
// send Sec-Fetch-Site can be told apart by.
void keep_private(Response& response) {
  response.headers["Cache-Control"] = "no-store";
  response.headers["Referrer-Policy"] = "same-origin";
}

}  // namespace

Response login_page(int status, std::string_view said, bool takes_tokens, std::string_view style) {
  Response response{.status = status, .content_type = "text/html; charset=utf-8"};
  keep_private(response);
  response.body = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>Log in · Trainward</title>\n{}</head>\n<body>\n<main>\n<h1>Trainward</h1>\n{}"
      "<section>{}</section>\n</main>\n</body>\n</html>\n",
      style.empty() ? "" : fmt::format("<link rel=\"stylesheet\" href=\"{}\">\n", style),
      said.empty() ? "" : fmt::format("<p role=\"alert\"><strong>{}</strong></p>\n", said),
      takes_tokens ? form : no_form);
  return response;
}

Response see_other(const std::string& path) {
  Response response{.status = 303, .content_type = "text/plain; charset=utf-8"};
  keep_private(response);
  response.headers["Location"] = path;
  return response;
}

}  // namespace trainward::api
