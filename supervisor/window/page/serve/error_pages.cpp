#include <string_view>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/window/page/serve/pages.hpp"

namespace trainward::page {
namespace {

// "text/html,application/xhtml+xml,…", before any word that would take a document as well.
bool wants_page(const api::Request& request) {
  const std::string accept = lower_case(request.header("accept"));
  const auto html = accept.find("text/html");
  return html != std::string::npos && html < accept.find("application/json") &&
         html < accept.find("application/problem+json");
}

Error error_in(const std::string& body) {
  const auto document = parse_json(body, "an answer");
  Error error{ErrorKind::usage, "it did not work", "", ""};
  if (!document || !document->is_object()) return error;
  if (const auto found = get_object(document->get_object(), "error")) {
    error.what = string_or(**found, "what", error.what);
    error.where = string_or(**found, "where", "");
    error.hint = string_or(**found, "hint", "");
  }
  return error;
}

}  // namespace

api::Handler with_error_pages(api::Handler handler, const Look& look) {
  return [handler = std::move(handler), look](const api::Request& request, api::Respond respond) {
    if (request.path.starts_with("/v1/") || !wants_page(request)) {
      return handler(request, std::move(respond));
    }
    handler(request, {[respond, look](api::Response response) {
                        if (response.content_type == "application/problem+json") {
                          api::Response page = page_response(
                              error_page(response.status, error_in(response.body), look),
                              response.status);
                          page.headers.insert(response.headers.begin(), response.headers.end());
                          response = std::move(page);
                        }
                        respond(std::move(response));
                      },
                      [respond] { return respond.wanted(); }});
  };
}

}  // namespace trainward::page
