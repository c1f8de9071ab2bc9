#include "supervisor/config/reading/secret_path.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "supervisor/config/reading/secrets.hpp"

namespace trainward::config {
namespace {

namespace fs = std::filesystem;
using yaml::Node;

bool is_path(const Node& node) {
  return node.kind == Node::Kind::scalar && !node.text.empty() &&
         std::none_of(node.text.begin(), node.text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

fs::path place_of(const Node& node, const Folders& folders) {
  const std::string_view credentials = variable("CREDENTIALS_DIRECTORY");
  if (!credentials.empty() && node.text.find('/') == std::string::npos) {
    std::error_code error;
    auto handed = fs::path(credentials) / node.text;
    if (fs::exists(handed, error)) return handed;
  }
  return folders.resolve(node);
}

}  // namespace

std::optional<fs::path> secret_path(yaml::MapReader& map, std::string_view key, const Node& node,
                                    const Folders& folders) {
  if (!is_path(node)) {
    map.report(key, node, "expected the path of a file of mode 600 that holds the secret");
    return std::nullopt;
  }
  auto path = place_of(node, folders);
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  const int problem = there ? 0 : errno;
  if (!there && may_be_a_secret(node.text)) {
    map.report(key, node,
               "expected a path, found what looks like the secret itself: put it into a file of "
               "mode 600, and write that file's path here");
    return std::nullopt;
  }
  if (!there) {
    // Secrets may come after the configuration, and the courier says what it misses.
    if (folders.notes != nullptr) {
      const char* what = problem == ENOENT ? "is not there yet" : "cannot be looked at";
      folders.notes->push_back(
          {node.mark, fmt::format("{}: {}: {}", map.path_of(key), path.string(), what)});
    }
  } else if (!S_ISREG(info.st_mode)) {
    map.report(key, node, path.string() + ": is not a file");
    return std::nullopt;
  } else if ((info.st_mode & 077) != 0) {
    map.report(key, node,
               fmt::format("{0}: may be read or written by others than its owner (`chmod 600 {0}`)",
                           path.string()));
    return std::nullopt;
  }
  return path;
}

}  // namespace trainward::config
