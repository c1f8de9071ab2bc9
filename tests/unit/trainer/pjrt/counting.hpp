// The counting plugin, from a test's side.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/program_cache/program_cache.hpp"
#include "counting_plugin.hpp"
#include "trainer/pjrt/pjrt_client.hpp"

namespace trainward::pjrt::test {

inline std::filesystem::path plugin_file(const std::string& name) {
  return std::filesystem::path(PLUGIN_FOLDER) / (name + ".so");
}

// Its control, as new. A test that leaves something alive fails here or at its end.
inline Control& fresh_control(const std::string& name = "counting_plugin") {
  void* library = dlopen(plugin_file(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  const auto get = reinterpret_cast<ControlFunction>(dlsym(library, "counting_plugin_control"));
  Control& control = *get();
  EXPECT_EQ(control.live, Live{}) << "left alive by the test before";
  control = Control{};
  return control;
}

inline void PrintTo(const Live& live, std::ostream* out) {
  *out << "errors " << live.errors << ", events " << live.events << ", clients " << live.clients
       << ", buffers " << live.buffers << ", executables " << live.executables << ", loaded "
       << live.loaded << ", serialized " << live.serialized << ", topologies " << live.topologies;
}

inline void expect_clean(const Control& control) {
  EXPECT_EQ(control.live, Live{});
  EXPECT_EQ(control.complaints, std::vector<std::string>{});
}

inline std::shared_ptr<const Plugin> open_counting(const std::string& name = "counting_plugin") {
  auto plugin = Plugin::open(plugin_file(name));
  if (!plugin) {
    ADD_FAILURE() << plugin.error().message();
    std::abort();
  }
  return *plugin;
}

inline std::unique_ptr<Client> make_client(std::span<const ClientOption> options = {}) {
  auto client = Client::create(open_counting(), options);
  if (!client) {
    ADD_FAILURE() << to_error(client.error()).message();
    std::abort();
  }
  return std::move(*client);
}

inline ProgramCache open_cache(const std::filesystem::path& folder) {
  auto cache = ProgramCache::open(folder);
  if (!cache) throw std::runtime_error(cache.error().message());
  return std::move(*cache);
}

}  // namespace trainward::pjrt::test
