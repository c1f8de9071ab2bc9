#include "supervisor/config/reading.hpp"

namespace trainward::config {

std::optional<std::filesystem::path> read_described_host(yaml::MapReader& map,
                                                         const Folders& folders) {
  const yaml::Node* value = map.take("host");
  if (value == nullptr) return std::nullopt;
  if (value->kind != yaml::Node::Kind::scalar || value->text.empty()) {
    map.report("host", *value, "expected a file, found " + describe(*value));
    return std::nullopt;
  }
  auto host = folders.resolve(*value);
  std::error_code error;
  if (!std::filesystem::is_regular_file(host, error)) {
    map.report("host", *value, "no such file: " + host.string());
  }
  return host;
}

}  // namespace trainward::config
