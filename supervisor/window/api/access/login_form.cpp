#include "supervisor/window/api/access/login_form.hpp"

#include <algorithm>

#include "common/base/percent.hpp"

namespace trainward::api {

std::optional<std::map<std::string, std::string>> form_fields(std::string_view body) {
  std::string spaced(body);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decoded_fields(spaced);
}

}  // namespace trainward::api
