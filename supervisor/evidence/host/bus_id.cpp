#include "supervisor/evidence/host/bus_id.hpp"

#include <algorithm>

#include "common/os/processes/host_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t longest_name = 8192;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::size_t hex_run(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_hex) - text.begin());
}

}  // namespace

std::vector<std::string> bus_ids_in(std::string_view text, std::size_t most) {
  std::vector<std::string> ids;
  std::string line(text.substr(0, longest_name));
  std::ranges::transform(line, line.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string_view rest = line;
  while (!rest.empty() && ids.size() < most) {
    const std::size_t domain = hex_run(rest);
    // "dddd:bb:dd", the domain of 4 to 8 digits, then perhaps ".f".
    const bool fits = domain >= 4 && domain <= 8 && rest.size() >= domain + 6 &&
                      rest[domain] == ':' && hex_run(rest.substr(domain + 1)) == 2 &&
                      rest[domain + 3] == ':' && hex_run(rest.substr(domain + 4)) == 2;
    if (!fits) {
      rest.remove_prefix(std::max<std::size_t>(domain, 1));
      continue;
    }
    std::string id(rest.substr(0, domain + 6));
    rest.remove_prefix(domain + 6);
    const bool function = rest.size() >= 2 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '7';
    id += function ? rest.substr(0, 2) : std::string_view(".0");
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

std::vector<std::string> with_ports_above(const std::filesystem::path& root,
                                          const std::string& bus_id) {
  std::vector<std::string> ids = bus_ids_in(bus_id, 1);
  if (ids.empty()) return ids;
  // "../../../devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0"
  std::error_code error;
  const auto way =
      std::filesystem::read_symlink(below(root, "/sys/bus/pci/devices") / ids.front(), error);
  if (error) return ids;
  constexpr std::size_t deepest = 16;
  for (std::string& id : bus_ids_in(way.string(), deepest)) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace trainward::host
