#include "supervisor/window/api/routes/paging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/base/percent.hpp"
#include "supervisor/window/api/routes/route_table.hpp"

namespace trainward::api {
namespace {

std::string link_to(const Request& request, std::int64_t after) {
  auto query = request.query;
  query["after"] = std::to_string(after);
  std::string target = percent_encoded(request.path, "/");
  char separator = '?';
  for (const auto& [name, value] : query) {
    target += separator + percent_encoded(name) + "=" + percent_encoded(value);
    separator = '&';
  }
  return "<" + target + ">; rel=\"next\"";
}

std::int64_t key_of(const json::value& row, const std::string& key) {
  return int_or(row.as_object(), key, 0);
}

}  // namespace

std::vector<Parameter> paged(std::vector<Parameter> parameters) {
  parameters.push_back({.name = "after"});
  parameters.push_back({.name = "limit", .least = 1});
  return parameters;
}

Response page_of(json::array rows, const Asked& asked, const std::string& key, std::int64_t limit) {
  const auto after = asked.number("after");
  const auto begin = std::find_if(rows.begin(), rows.end(), [&](const json::value& row) {
    return !after || key_of(row, key) > *after;
  });
  auto end = rows.end();
  if (rows.end() - begin > limit) {
    end = begin + limit;
    const std::int64_t last = key_of(*(end - 1), key);
    while (end != rows.end() && key_of(*end, key) == last) ++end;
  }
  const bool more = end != rows.end();
  const json::array page(begin, end);
  Response response = json_response(page);
  if (more) response.headers["Link"] = link_to(asked.request(), key_of(page.back(), key));
  return response;
}

Response page_of(Result<json::array> rows, const Asked& asked, const std::string& key) {
  if (!rows) return failed(rows.error(), 404);
  return page_of(std::move(*rows), asked, key,
                 asked.number("limit").value_or(std::numeric_limits<int>::max()));
}

}  // namespace trainward::api
