#include "trainer/device/device.hpp"

#include "common/base/text.hpp"
#include "trainer/stablehlo/text/print.hpp"

namespace trainward::trainer {
namespace {

tl::unexpected<Error> failed(const pjrt::DeviceError& error) {
  return tl::unexpected<Error>(pjrt::to_error(error));
}

}  // namespace

stablehlo::Target target_of(const pjrt::Plugin& plugin) {
  return plugin.honours_donation() ? stablehlo::Target::general : stablehlo::Target::tiles;
}

Status download(const Shards& value, std::span<std::byte> into, std::size_t device) {
  auto done = value[device].download(into);
  if (!done) return failed(done.error());
  return {};
}

Result<std::vector<Shards>> DeviceProgram::run(std::span<const Shards* const> arguments) const {
  const std::size_t devices = arguments.empty() ? 1 : arguments.front()->size();
  std::vector<std::vector<const pjrt::Buffer*>> by_device(devices);
  for (std::size_t d = 0; d < devices; ++d) {
    by_device[d].reserve(arguments.size());
    for (const Shards* argument : arguments) by_device[d].push_back(&(*argument)[d]);
  }
  const auto started = DeviceTimes::Moment::clock::now();
  std::optional<pjrt::Completion> completion;
  auto results = executable_.run(by_device, times_ != nullptr ? &completion : nullptr);
  if (!results) return failed(results.error());
  if (completion) times_->started(work_, started, *std::move(completion));
  std::vector<Shards> values(results->front().size());
  for (std::vector<pjrt::Buffer>& of_device : *results) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(std::move(of_device[i]));
  }
  return values;
}

Result<std::unique_ptr<Device>> Device::open(const DeviceOptions& options, std::int64_t devices) {
  auto plugin = pjrt::Plugin::open(options.plugin);
  if (!plugin) return propagate(plugin);
  std::unique_ptr<Device> device(new Device(std::move(*plugin), static_cast<std::size_t>(devices)));
  auto client = pjrt::Client::create(device->plugin_, options.options);
  if (!client) {
    Error error = pjrt::to_error(client.error());
    // An option or a variable that somebody has set: another attempt would meet it again.
    if (client.error().code == pjrt::ErrorCode::invalid_argument) error.kind = ErrorKind::usage;
    return tl::unexpected<Error>(std::move(error));
  }
  device->client_ = std::move(*client);
  device->uploads_.emplace(*device->client_);
  if (devices > 1) device->times_.emplace(device->count_);
  device->say_ = options.say;
  const auto found = static_cast<std::int64_t>(device->client_->device_count());
  if (found < devices) {
    return fail(options.seen ? ErrorKind::transient : ErrorKind::usage,
                fmt::format("{} has {}, and mesh_shape asks for {}", options.plugin.string(),
                            trainward::count(found, "device"), devices),
                "device_config.mesh_shape",
                options.seen ? "a device is lost that was there when the boards were looked at"
                             : "ask for fewer, or look whether a chip is lost");
  }
  if (options.cache) {
    auto cache = ProgramCache::open(*options.cache, options.cache_limit);
    if (cache) {
      device->cache_.emplace(std::move(*cache));
    } else if (options.say) {
      options.say(fmt::format("programs are compiled every time: {}", cache.error().message()));
    }
  }
  device->compiler_ = std::make_unique<pjrt::Compiler>(*device->client_,
                                                       device->cache_ ? &*device->cache_ : nullptr,
                                                       options.compiled, options.waiting);
  return device;
}

Device::~Device() = default;

Result<DeviceProgram> Device::make(const stablehlo::Module& module, Work work) {
  auto text = stablehlo::print(module);
  if (!text) return propagate(text);
  auto made = compiler_->get(module.name, *text, module.replicas);
  if (!made) {
    Error error = pjrt::to_error(made.error());
    error.what = fmt::format("{}: {}", module.name, error.what);
    return tl::unexpected<Error>(std::move(error));
  }
  return DeviceProgram(std::move(*made), work, times_ ? &*times_ : nullptr);
}

Result<std::optional<DeviceProgram>> Device::make(const std::optional<stablehlo::Module>& module,
                                                  Work work) {
  if (!module) return std::nullopt;
  auto made = make(*module, work);
  if (!made) return propagate(made);
  return std::optional(std::move(*made));
}

std::vector<DeviceTimes::Use> Device::take_times() {
  return times_ ? times_->take() : std::vector<DeviceTimes::Use>();
}

Result<Shards> Device::upload(const graph::Type& type, std::span<const void* const> data) {
  Shards shards;
  for (std::size_t d = 0; d < count_; ++d) {
    auto buffer = client_->upload(d, type, data[d]);
    if (!buffer) return failed(buffer.error());
    shards.push_back(std::move(*buffer));
  }
  return shards;
}

Result<Shards> Device::upload(const graph::Type& type, const void* data) {
  return upload(type, std::vector<const void*>(count_, data));
}

Result<Shards> Device::begin_upload(const graph::Type& type, std::span<const void* const> data) {
  Shards shards;
  for (std::size_t d = 0; d < count_; ++d) {
    auto buffer = uploads_->add(d, type, data[d]);
    if (!buffer) return failed(buffer.error());
    shards.push_back(std::move(*buffer));
  }
  return shards;
}

void Device::map(std::span<std::byte> memory) {
  auto mapped = client_->map(memory);
  if (mapped) {
    mapped_.push_back(std::move(*mapped));
  } else if (mapped.error().code != pjrt::ErrorCode::unimplemented && say_) {
    say_(
        fmt::format("starts and saves take longer, since the device cannot reach memory itself: {}",
                    pjrt::to_error(mapped.error()).message()));
  }
}

Status Device::finish_uploads() {
  auto done = uploads_->wait();
  if (!done) return failed(done.error());
  return {};
}

}  // namespace trainward::trainer
