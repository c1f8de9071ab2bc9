// What the page is made of. Everybody may have it: there is nothing of a run in it.
#include <fmt/format.h>

#include "common/base/text.hpp"
#include "supervisor/window/page/serve/pages.hpp"

namespace trainward::page {
namespace {

// Whether "gzip, deflate;q=0.5" has the word, and not to say that it is not wanted.
bool takes_gzip(const api::Request& request) {
  std::string_view accepted = request.headers.contains("accept-encoding")
                                  ? std::string_view(request.headers.at("accept-encoding"))
                                  : std::string_view();
  while (!accepted.empty()) {
    const auto comma = std::min(accepted.find(','), accepted.size());
    const std::string_view one = trim(accepted.substr(0, comma));
    accepted.remove_prefix(std::min(comma + 1, accepted.size()));
    const auto semicolon = std::min(one.find(';'), one.size());
    if (lower_case(trim(one.substr(0, semicolon))) != "gzip") continue;
    const std::string weight = lower_case(one.substr(semicolon));
    const auto number = weight.find("q=");
    return number == std::string::npos ||
           weight.find_first_of("123456789", number) != std::string::npos;
  }
  return false;
}

api::Response file_response(const Assets& assets, const std::string& name,
                            const api::Request& request) {
  auto asset = assets.find(name, takes_gzip(request));
  if (!asset) {
    return api::error_response(404, {ErrorKind::usage, "there is no such file", name,
                                     "reload the page: its files have other names now"});
  }
  api::Response response;
  response.content_type = asset->content_type;
  response.headers["Cache-Control"] =
      asset->for_ever ? "public, max-age=31536000, immutable" : "no-cache";
  response.headers["Vary"] = "Accept-Encoding";
  if (asset->is_gzip) response.headers["Content-Encoding"] = "gzip";
  response.body = std::move(asset->bytes);
  return response;
}

}  // namespace

void add_files(api::Table& table, const Assets& assets) {
  table.get(
      "/assets/*", {},
      [assets](const api::Asked& asked, const api::Respond& respond) {
        respond(file_response(assets, asked.name(), asked.request()));
      },
      api::Role::nobody);
  table.get(
      "/favicon.svg", {},
      [assets](const api::Asked& asked, const api::Respond& respond) {
        respond(file_response(assets, "favicon.svg", asked.request()));
      },
      api::Role::nobody);
}

}  // namespace trainward::page
