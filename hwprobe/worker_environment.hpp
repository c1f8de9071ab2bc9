// Variables that a worker on some boards is started with: a line a vendor in
// worker_environment.cpp. Apart from Accelerator because the daemon starts workers and looks at no
// board itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trainward::hwprobe {

struct WorkerPlace {
  std::string bus_ids;                 // of its boards, with commas between them; may be empty
  std::filesystem::path kernel_cache;  // for what the vendor's runtime compiles
  std::int64_t longest_step_s = 0;     // after which the supervisor takes it for hung
};

struct Variable {
  std::string name;
  std::string value;
  bool only_if_unset = false;  // the user's own value comes first
};

std::vector<Variable> worker_environment(const WorkerPlace& place);

}  // namespace trainward::hwprobe
