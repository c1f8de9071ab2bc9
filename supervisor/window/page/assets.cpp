#include "supervisor/window/page/assets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/os/file.hpp"

namespace trainward::page {
namespace {

std::string content_type_of(std::string_view name) {
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

// "page.css" with its hash: "page.0123456789ab.css".
std::string hashed(const Embedded& file) {
  const auto dot = file.name.rfind('.');
  return fmt::format("{}.{}{}", file.name.substr(0, dot), file.hash, file.name.substr(dot));
}

}  // namespace

std::optional<Asset> Assets::find(std::string_view name, bool takes_gzip) const {
  const bool from_folder = !folder_.empty();
  for (const Embedded& file : embedded()) {
    const bool plain = name == file.name && (from_folder || name == "favicon.svg");
    if (!plain && name != hashed(file)) continue;
    Asset asset;
    asset.content_type = content_type_of(file.name);
    if (from_folder) {
      constexpr std::size_t most_bytes = 4 << 20;
      auto bytes = read_file(folder_ / file.name, most_bytes);
      if (!bytes) return std::nullopt;
      asset.bytes = std::move(*bytes);
      return asset;
    }
    asset.is_gzip = takes_gzip && file.gzip.size() < file.bytes.size();
    asset.bytes = asset.is_gzip ? file.gzip : file.bytes;
    asset.for_ever = !plain;
    return asset;
  }
  return std::nullopt;
}

Look Assets::look() const {
  Look look;
  for (const Embedded& file : embedded()) {
    const std::string name = folder_.empty() ? hashed(file) : std::string(file.name);
    if (file.name == "page.css") {
      look.css_file = name;
    } else if (file.name == "page.js") {
      look.script_file = name;
    } else if (file.name.ends_with(".js")) {
      look.modules.push_back(name);
    }
  }
  return look;
}

Look Assets::look_in_one_file() {
  Look look;
  const auto files = embedded();
  const auto css = std::ranges::find(files, "page.css", &Embedded::name);
  if (css != files.end()) look.style = css->bytes;
  return look;
}

}  // namespace trainward::page
