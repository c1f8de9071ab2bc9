#include "supervisor/api/http.hpp"

#include "common/base/utf8.hpp"

namespace trainward::api {

Response json_response(const json::value& value, int status) {
  Response response;
  response.status = status;
  response.body = valid_utf8(json::serialize(value)) + "\n";
  return response;
}

Response error_response(int status, const Error& error) {
  return json_response({{"error",
                         {{"kind", std::string(to_string(error.kind))},
                          {"what", error.what},
                          {"where", error.where},
                          {"hint", error.hint}}}},
                       status);
}

}  // namespace trainward::api
