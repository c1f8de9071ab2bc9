// Devices that a plugin describes without having them: programs can be compiled for them.
//
// XLA's plugins have this; Tenstorrent's has not (every call is unimplemented).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trainer/pjrt/device_error.hpp"
#include "trainer/pjrt/named_values.hpp"
#include "trainer/pjrt/platform.hpp"
#include "trainer/pjrt/plugin.hpp"

namespace trainward::pjrt {

class Topology {
 public:
  // `name` and `options` are the plugin's own; the empty name is the plugin's default.
  static Outcome<std::unique_ptr<Topology>> create(std::shared_ptr<const Plugin> plugin,
                                                   const std::string& name,
                                                   std::span<const ClientOption> options = {});
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] const Plugin& plugin() const { return *plugin_; }
  // As far as the plugin tells: a client on real devices may have other words.
  [[nodiscard]] const Platform& platform() const { return platform_; }

  // The compiled program's bytes, for Client::load.
  [[nodiscard]] Outcome<std::string> compile(std::string_view stablehlo,
                                             std::int64_t replicas = 1) const;

 private:
  Topology(std::shared_ptr<const Plugin> plugin, abi::TopologyDescription* description)
      : plugin_(std::move(plugin)), description_(description) {}
  Outcome<void> read_platform();

  std::shared_ptr<const Plugin> plugin_;
  abi::TopologyDescription* description_;
  Platform platform_;
};

}  // namespace trainward::pjrt
