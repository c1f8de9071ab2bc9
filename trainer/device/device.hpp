// The devices of a PJRT plugin, as one: values that lie on each of them, and programs that all of
// them run together.
//
// One thread opens, uses and destroys everything here; values and programs go before their Device.
// Errors are those of the plugin (trainer/pjrt/device_error.hpp): transient, where a new process
// may get further. After a program has failed the device may be of no more use to this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/base/error.hpp"
#include "common/program_cache/program_cache.hpp"
#include "trainer/device/device_times.hpp"
#include "trainer/pjrt/compiler.hpp"
#include "trainer/pjrt/device_uploads.hpp"
#include "trainer/pjrt/pjrt_client.hpp"
#include "trainer/pjrt/plugin.hpp"
#include "trainer/stablehlo/lower.hpp"
#include "trainer/stablehlo/module.hpp"

namespace trainward::trainer {

// One value: a buffer on each device, in their order.
using Shards = std::vector<pjrt::Buffer>;

// Row-major, into as many bytes as the value has; of the first device.
Status download(const Shards& value, std::span<std::byte> into, std::size_t device = 0);

class DeviceProgram {
 public:
  // `times`: of the devices, which outlive it; null: nobody wants to know.
  DeviceProgram(pjrt::Executable executable, Work work, DeviceTimes* times)
      : executable_(std::move(executable)), work_(work), times_(times) {}

  // In the order of the module's parameters and outputs. Arguments that the module's outputs reuse
  // are of no use afterwards.
  Result<std::vector<Shards>> run(std::span<const Shards* const> arguments) const;

 private:
  pjrt::Executable executable_;
  Work work_;
  DeviceTimes* times_;
};

// What programs for this plugin must be like. Tenstorrent's is the one that honours no donation.
stablehlo::Target target_of(const pjrt::Plugin& plugin);

struct DeviceOptions {
  std::filesystem::path plugin;
  std::vector<pjrt::ClientOption> options;     // for the plugin
  std::optional<std::filesystem::path> cache;  // of compiled programs; none: compiled every time
  std::uint64_t cache_limit = std::uint64_t{8} << 30;   // bytes
  std::function<void(const pjrt::Compiled&)> compiled;  // told of each program
  std::function<void()> waiting;  // called every second while another process compiles one
  std::function<void(const std::string&)> say;  // what else a person should know
  // Somebody has seen all of them: fewer than asked for are a loss, not a wrong number.
  bool seen = false;
};

class Device {
 public:
  // Kind usage when the file is not a plugin, or the plugin has fewer than `devices`.
  static Result<std::unique_ptr<Device>> open(const DeviceOptions& options, std::int64_t devices);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;
  ~Device();

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const pjrt::Client& client() const { return *client_; }
  [[nodiscard]] stablehlo::Target target() const { return target_of(*plugin_); }

  Result<DeviceProgram> make(const stablehlo::Module& module, Work work = Work::compute);
  // Nothing of nothing.
  Result<std::optional<DeviceProgram>> make(const std::optional<stablehlo::Module>& module,
                                            Work work = Work::compute);

  // Of each of several devices, since the last call; of one nobody keeps them.
  std::vector<DeviceTimes::Use> take_times();

  // Dense and row-major; the memory is free again afterwards. One address a device, or one for all.
  Result<Shards> upload(const graph::Type& type, std::span<const void* const> data);
  Result<Shards> upload(const graph::Type& type, const void* data);
  // The same, but the memory is the devices' until finish_uploads().
  Result<Shards> begin_upload(const graph::Type& type, std::span<const void* const> data);
  Status finish_uploads();
  // From now on copies from and to this memory are as fast as the devices can, where the plugin has
  // the means; else nothing changes. Touches all of it. The memory outlives this object.
  void map(std::span<std::byte> memory);

 private:
  Device(std::shared_ptr<const pjrt::Plugin> plugin, std::size_t count)
      : plugin_(std::move(plugin)), count_(count) {}

  std::shared_ptr<const pjrt::Plugin> plugin_;
  std::unique_ptr<pjrt::Client> client_;
  std::vector<pjrt::MappedMemory> mapped_;
  std::optional<pjrt::Uploads> uploads_;
  std::optional<ProgramCache> cache_;
  std::unique_ptr<pjrt::Compiler> compiler_;
  std::optional<DeviceTimes> times_;
  std::function<void(const std::string&)> say_;
  std::size_t count_;
};

}  // namespace trainward::trainer
