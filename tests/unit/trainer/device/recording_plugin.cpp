// The simulated N300's plugin, which remembers the names of the programs that it runs.
//
// In a library of its own, since that is how plugins are opened. One client at a time.
#include <dlfcn.h>

#include <string>
#include <vector>

#include "trainer/pjrt/abi.hpp"

#define EXPORTED __attribute__((visibility("default")))

namespace trainward::pjrt::abi {
namespace {

std::vector<std::string> names;

const Api& simulated() {
  static const Api& api = []() -> const Api& {
    void* const library = ::dlopen(SIM_N300_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    return *reinterpret_cast<GetApi>(::dlsym(library, "GetPjrtApi"))();
  }();
  return api;
}

Error* execute(LoadedExecutable_Execute_Args* args) {
  LoadedExecutable_GetExecutable_Args described{};
  described.loaded_executable = args->executable;
  simulated().LoadedExecutable_GetExecutable(&described);
  Executable_Name_Args name{};
  name.executable = described.executable;
  simulated().Executable_Name(&name);
  names.emplace_back(name.executable_name, name.executable_name_size);
  Executable_Destroy_Args destroyed{};
  destroyed.executable = described.executable;
  simulated().Executable_Destroy(&destroyed);
  return simulated().LoadedExecutable_Execute(args);
}

}  // namespace
}  // namespace trainward::pjrt::abi

extern "C" {

EXPORTED const trainward::pjrt::abi::Api* GetPjrtApi() {
  static const trainward::pjrt::abi::Api api = [] {
    trainward::pjrt::abi::Api recording = trainward::pjrt::abi::simulated();
    recording.LoadedExecutable_Execute = &trainward::pjrt::abi::execute;
    return recording;
  }();
  return &api;
}

// It honours no donation, as the simulated one.
EXPORTED void tt_pjrt_shutdown() {}

// In the order of their starts.
EXPORTED std::vector<std::string>* recorded_names() { return &trainward::pjrt::abi::names; }
}
