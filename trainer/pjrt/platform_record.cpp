#include "trainer/pjrt/platform_record.hpp"

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "common/base/json/json_text.hpp"

namespace trainward::pjrt {
namespace {

std::string record_key(const std::string& plugin_digest) {
  return sha256_hex("platform of " + plugin_digest);
}

}  // namespace

Status remember_platform(const ProgramCache& cache, const std::string& plugin_digest,
                         const Platform& platform) {
  if (remembered_platform(cache, plugin_digest) == platform) return {};
  const std::string text =
      JsonText()
          .add("name", platform.name)
          .add("version", platform.version)
          .add("device_kind", platform.device_kind)
          .add("device_count", static_cast<std::int64_t>(platform.device_count))
          .object();
  return cache.put(
      record_key(plugin_digest), text,
      {"(devices seen last)", platform.name + " " + platform.version, plugin_digest.substr(0, 12)});
}

std::optional<Platform> remembered_platform(const ProgramCache& cache,
                                            const std::string& plugin_digest) {
  const auto text = cache.find(record_key(plugin_digest));
  if (!text || !*text) return std::nullopt;
  const auto parsed = parse_json(**text, "platform");
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto& object = parsed->get_object();
  const auto name = get_string(object, "name");
  const auto version = get_string(object, "version");
  const auto kind = get_string(object, "device_kind");
  const auto count = get_int(object, "device_count");
  if (!name || !version || !kind || !count || *count < 1) return std::nullopt;
  return Platform{*name, *version, *kind, static_cast<std::size_t>(*count)};
}

}  // namespace trainward::pjrt
