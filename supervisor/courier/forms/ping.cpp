// A ping while all is well; who receives it raises the alarm when none comes.
#include <fmt/format.h>

#include "common/base/percent.hpp"
#include "common/base/text.hpp"
#include "supervisor/courier/forms/escape.hpp"
#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {

Result<net::Request> ping_request(const Values& values, std::string_view summary) {
  constexpr std::size_t most = 1000;
  const std::string_view url = values.text("url");
  if (auto usable = check_address(url); !usable) return propagate(usable);
  const std::string line = cut(clean(summary), most);
  net::Request request;
  request.cut_answer = true;
  if (values.text("form") == "uptime-kuma") {
    // Its page shows the address with an example of the query.
    request.url = fmt::format("{}?status=up&msg={}&ping=", url.substr(0, url.find('?')),
                              percent_encoded(line));
    return request;
  }
  request.method = "POST";
  request.url = std::string(url);
  request.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
  request.body = line;
  return request;
}

}  // namespace trainward::courier
