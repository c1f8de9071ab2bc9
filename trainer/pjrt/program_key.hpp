// What a compiled program is kept under: everything that could make it another program. Pure.
#pragma once

#include <string>
#include <string_view>

#include "trainer/pjrt/platform.hpp"

namespace trainward::pjrt {

// A plugin as it tells itself apart from its other versions.
struct PluginIdentity {
  int major = 0;
  int minor = 0;
  std::string digest;  // of its file
};

// 64 hexadecimal digits: SHA-256 over all of it, each part with its length in front.
std::string program_key(std::string_view text, std::string_view compile_options,
                        const Platform& platform, const PluginIdentity& plugin);

// What is remembered of a plugin on a platform: whether it loads what it serializes.
std::string plugin_key(const Platform& platform, const PluginIdentity& plugin);

}  // namespace trainward::pjrt
