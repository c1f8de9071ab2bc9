#include "supervisor/window/api/http/revalidation.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/text.hpp"

namespace trainward::api {
namespace {

constexpr std::size_t most_on_the_loop = 256 * 1024;

// `marks` is a list: "a", W/"b", or *.
bool is_among(std::string_view marks, std::string_view etag) {
  if (trim(marks) == "*") return true;
  while (!marks.empty()) {
    const auto end = std::min(marks.find(','), marks.size());
    std::string_view one = trim(marks.substr(0, end));
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == etag) return true;
    marks.remove_prefix(std::min(end + 1, marks.size()));
  }
  return false;
}

}  // namespace

void mark(Response& response) {
  if (response.status != 200 || response.pipe || response.headers.contains("ETag")) return;
  response.headers["ETag"] = "\"" + sha256_hex(response.body).substr(0, 32) + "\"";
}

Respond revalidated(const Request& request, const Respond& respond) {
  return {[known = request.header("if-none-match"), respond](Response response) {
            if (response.status != 200 || response.pipe) return respond(std::move(response));
            const auto caching = response.headers.find("Cache-Control");
            if (caching != response.headers.end() && caching->second == "no-store") {
              return respond(std::move(response));
            }
            if (response.body.size() <= most_on_the_loop) mark(response);
            response.headers.emplace("Cache-Control", "no-cache");
            const auto etag = response.headers.find("ETag");
            if (!known.empty() && etag != response.headers.end() && is_among(known, etag->second)) {
              response.status = 304;
              response.body = {};
            }
            respond(std::move(response));
          },
          [respond] { return respond.wanted(); }};
}

}  // namespace trainward::api
