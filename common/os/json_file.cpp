#include "common/os/json_file.hpp"

#include "common/os/file.hpp"

namespace trainward {

Result<json::value> read_json_file(const std::filesystem::path& path, std::size_t max_bytes) {
  auto text = read_file(path, max_bytes);
  if (!text) return propagate(text);
  return parse_json(*text, path.string());
}

}  // namespace trainward
