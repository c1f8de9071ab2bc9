#include "trainer/pjrt/program_key.hpp"

#include <initializer_list>

#include "common/base/digest.hpp"

namespace trainward::pjrt {
namespace {

std::string digest_of(std::initializer_list<std::string_view> parts) {
  Sha256 sha;
  for (const std::string_view part : parts) {
    sha.update(std::to_string(part.size()) + ":");
    sha.update(part);
  }
  return sha.finish();
}

}  // namespace

std::string program_key(std::string_view text, std::string_view compile_options,
                        const Platform& platform, const PluginIdentity& plugin) {
  return digest_of({"program", text, compile_options, platform.name, platform.version,
                    std::to_string(plugin.major), std::to_string(plugin.minor), plugin.digest,
                    platform.device_kind, std::to_string(platform.device_count)});
}

std::string plugin_key(const Platform& platform, const PluginIdentity& plugin) {
  return digest_of({"plugin", platform.name, platform.version, plugin.digest});
}

}  // namespace trainward::pjrt
