#include "supervisor/ctl/client/hello.hpp"

#include "common/base/json/json.hpp"

namespace trainward::ctl::remote {
namespace {

constexpr std::string_view mark = R"({"trainward-connect":)";
constexpr std::size_t longest = 64 << 10;

}  // namespace

std::string hello_line(const Hello& hello) {
  const json::object document{
      {"trainward-connect", hello.protocol}, {"version", hello.version}, {"place", hello.place}};
  return json::serialize(document) + "\n";
}

Result<std::optional<Hello>> take_hello(std::string& bytes) {
  for (std::size_t end = bytes.find('\n'); end != std::string::npos; end = bytes.find('\n')) {
    const std::string line = bytes.substr(0, end);
    bytes.erase(0, end + 1);
    // A prompt or a colour of the profile may stand before it on its line.
    const auto begin = line.find(mark);
    if (begin == std::string::npos) continue;
    const auto document = parse_json(line.substr(begin), "the first line of the connection");
    if (!document || !document->is_object()) continue;
    const json::object& fields = document->get_object();
    return Hello{int_or(fields, "trainward-connect", 0), string_or(fields, "version", "unknown"),
                 string_or(fields, "place", "")};
  }
  if (bytes.size() > longest) {
    return fail(ErrorKind::corrupt, "what came through ssh is not trainwardctl's", "",
                "is something on that machine printing to the connection?");
  }
  return std::nullopt;
}

}  // namespace trainward::ctl::remote
