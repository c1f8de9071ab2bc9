// supervisord's INI, and what `trainwardctl config import` makes of it.
#include <string>

#include "common/yaml/document.hpp"
#include "require.hpp"
#include "supervisor/config/import/supervisord.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  using fuzz::require;
  const auto imported = config::import_supervisord(
      fuzz::text_of(data, size),
      {.file = "s.conf", .here = "/here", .host = "host", .variable = {}, .with_secrets = true});
  if (!imported) {
    require(!imported.error().what.empty(), "a refusal says why");
    return 0;
  }
  const yaml::Document document = yaml::parse(
      imported->yaml, {.max_bytes = std::size_t{1} << 30, .max_nodes = std::size_t{1} << 30});
  require(document.problems.empty(), "what is written is YAML of ours");
  const yaml::Node* programs = document.root.find("programs");
  require(programs != nullptr, "with programs");
  require(programs->members.size() == imported->programs, "as many as it says");
  return 0;
}
