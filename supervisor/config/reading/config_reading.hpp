// What the readers of the sections share: how a path in the file becomes an absolute one, and how a
// map inside a map is read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/yaml/map_reader.hpp"

namespace trainward::config {

struct Folders {
  std::filesystem::path file;     // the configuration file's folder
  std::filesystem::path working;  // where the command was typed
  std::filesystem::path home;     // of the reading user; empty: unknown
  // What was understood in a way that the reader of the file should know of; borrowed.
  std::vector<yaml::Problem>* notes = nullptr;

  // A relative path means the file's folder when the file says it, and the working directory when
  // the command line does. ~, $HOME and ${HOME} at its beginning are the home folder, and noted.
  [[nodiscard]] std::filesystem::path resolve(const yaml::Node& node) const;
};

// The environment variable of this process, or nothing.
std::string_view variable(const char* name);

// Whether all of it are letters and digits of ASCII, or among `more`.
bool consists_of(std::string_view text, std::string_view more);

// "22:00" as minutes since midnight, up to "24:00", the day's end.
std::optional<int> minute_of_day(std::string_view text);

// The file that describes a host under "host"; nothing when it is absent or not a file.
std::optional<std::filesystem::path> read_described_host(yaml::MapReader& map,
                                                         const Folders& folders);

// Runs `read` over the map under `key`, or does nothing when it is absent. `example`: of such a
// map.
template <typename Read>
void in_section(yaml::MapReader& outer, std::string_view key, Read read,
                std::string_view example = "") {
  const yaml::Node* node = outer.take(key);
  if (node == nullptr) return;
  yaml::MapReader reader(*node, outer.path_of(key), outer.problems(), example);
  read(reader);
  reader.finish();
}

}  // namespace trainward::config
