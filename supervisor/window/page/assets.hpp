// The files of the page: inside the program, each with the hash of its content in its name, so that
// a browser may keep it for ever; or, while they are being changed, from a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {

// Made when the program is built.
struct Embedded {
  std::string_view name;  // "page.css"
  std::string_view hash;  // of its content
  std::string_view bytes;
  std::string_view gzip;  // the same, smaller
};
std::span<const Embedded> embedded();

struct Asset {
  std::string content_type;
  std::string bytes;
  bool is_gzip = false;
  bool for_ever = false;  // what has this name never changes
};

class Assets {
 public:
  // Those inside the program; or those of `folder`, unless it is empty.
  explicit Assets(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  // By the name that a page has for it. Nothing for an unknown name.
  [[nodiscard]] std::optional<Asset> find(std::string_view name, bool takes_gzip) const;
  // How pages name them.
  [[nodiscard]] Look look() const;
  // How a page in one file looks.
  [[nodiscard]] static Look look_in_one_file();

 private:
  std::filesystem::path folder_;
};

}  // namespace trainward::page
