// A table of what is served, and who is turned away before it is asked.
//
// In: routes, each a method, a path, the parameters its query may have, who may ask, and what
// answers. Out: a Handler. No such path: 404. A path that is there, by another method: 405, with
// Allow; a method that HTTP does not have: 501. Somebody who has not said who it is: 401; who may
// not: 403. A parameter that is unknown, or whose value is not allowed: 400, and
// nothing was done. HEAD is GET: who carries the answer leaves its body out.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

// Of the query. It may always be left out.
struct Parameter {
  std::string name;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  // a whole number, no less
  std::vector<std::string> words = {};                            // or one of these, and no number
  bool text = false;                                              // or any text but the empty one
};

// Nothing when it is anything but a whole number, which may be negative.
std::optional<std::int64_t> whole_number(const std::string& text);

// A request that fits its route. A copy is cheap, and may be kept.
class Asked {
 public:
  Asked(const Request& request, std::vector<std::string> names)
      : request_(std::make_shared<const Request>(request)), names_(std::move(names)) {}
  [[nodiscard]] const Request& request() const { return *request_; }
  [[nodiscard]] const Requester& by() const { return request_->by; }
  // What stands in the path where the route has its star.
  [[nodiscard]] const std::string& name() const { return names_.front(); }
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& parameter) const;
  [[nodiscard]] std::string word(const std::string& parameter, const std::string& otherwise) const;

 private:
  std::shared_ptr<const Request> request_;
  std::vector<std::string> names_;
};

struct Route {
  std::string method;
  std::string path;  // "/v1/programs/*/why": a star is one word, whatever it is
  std::vector<Parameter> parameters;
  std::function<void(const Asked&, const Respond&)> answer;
  Role needs = Role::operates;
};

Handler make_router(std::vector<Route> routes);

}  // namespace trainward::api
