#include "trainer/pjrt/ahead_of_time.hpp"

#include "common/os/clock.hpp"
#include "trainer/pjrt/compile_options.hpp"
#include "trainer/pjrt/platform_record.hpp"

namespace trainward::pjrt {
namespace {

// The platform as a client will name it.
Result<Platform> expected_platform(const Topology& topology, const ProgramCache& cache,
                                   const std::string& plugin_digest) {
  const Platform& described = topology.platform();
  const auto seen = remembered_platform(cache, plugin_digest);
  const bool same_kind =
      !seen || described.device_kind.empty() || described.device_kind == seen->device_kind;
  if (seen && (seen->name != described.name || !same_kind)) {
    return fail(ErrorKind::usage,
                fmt::format("the topology is of {} ({}), the last client's devices were {} ({})",
                            described.device_kind, described.name, seen->device_kind, seen->name),
                topology.plugin().path().string(),
                "programs for other devices need a cache of their own");
  }
  if (seen) return *seen;
  if (described.device_count == 0) {
    return fail(ErrorKind::usage, "the plugin does not tell which devices it compiles for",
                topology.plugin().path().string(),
                "run once with the device: what it is will be remembered in the cache");
  }
  return described;
}

}  // namespace

Result<Compiled> compile_without_device(const Topology& topology, const ProgramCache& cache,
                                        const std::string& name, const std::string& text,
                                        std::int64_t replicas) {
  const MonoTime asked = now().mono;
  const Plugin& plugin = topology.plugin();
  auto digest = plugin.digest();
  if (!digest) return propagate(digest);
  const PluginIdentity identity{plugin.major(), plugin.minor(), *digest};
  const auto platform = expected_platform(topology, cache, *digest);
  if (!platform) return tl::unexpected<Error>(platform.error());
  if (replicas < 1 || static_cast<std::size_t>(replicas) > platform->device_count) {
    return fail(ErrorKind::usage, fmt::format("the program is for {} devices; there are {}",
                                              replicas, platform->device_count));
  }
  if (cache.loads(plugin_key(*platform, identity)) == false) {
    return fail(ErrorKind::permanent, "the plugin cannot load what it has compiled",
                plugin.path().string(), "each run has to compile its programs itself");
  }

  Compiled about;
  about.name = name;
  about.key = program_key(text, compile_options(replicas), *platform, identity);
  auto lock = cache.lock(about.key);
  if (!lock) return propagate(lock);
  auto found = cache.find(about.key, &about.dropped);
  if (!found) return propagate(found);
  about.hit = found->has_value();
  if (!about.hit) {
    const auto bytes = topology.compile(text, replicas);
    if (!bytes) return tl::unexpected<Error>(to_error(bytes.error()));
    const auto kept = cache.put(
        about.key, *bytes,
        {name, platform->name + " " + platform->version, plugin.path().filename().string()});
    if (!kept) return tl::unexpected<Error>(kept.error());
  }
  about.ms = now().mono - asked;
  return about;
}

}  // namespace trainward::pjrt
