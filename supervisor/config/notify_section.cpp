// notify: who is told what, when and by which ways.
#include "supervisor/config/config.hpp"
#include "supervisor/config/reading.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {

void read_notify(yaml::MapReader& file, const Folders& folders, Config& config) {
  in_section(file, "notify",
             [&](yaml::MapReader& notify) { config.channels = read_channels(notify, folders); });
}

}  // namespace trainward::config
