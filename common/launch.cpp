#include "common/launch.hpp"

#include "common/json.hpp"

namespace trainward {
namespace {

constexpr std::size_t max_spec_bytes = 4 * 1024 * 1024;

}  // namespace

std::string to_json_text(const LaunchSpec& spec) {
  return json::serialize(json::object{{"version", 1},
                                      {"run", spec.run},
                                      {"attempt", spec.attempt},
                                      {"nonce", spec.nonce},
                                      {"argv", json::value_from(spec.argv)},
                                      {"environment", json::value_from(spec.environment)},
                                      {"directory", spec.directory.string()}});
}

Result<LaunchSpec> read_launch_spec(const std::filesystem::path& file) {
  auto value = read_json_file(file, max_spec_bytes);
  if (!value) return propagate(value);
  const json::object* object = value->if_object();
  if (object == nullptr || int_or(*object, "version", 0) != 1) {
    return fail(ErrorKind::corrupt, "is not a launch file of version 1", file.string());
  }
  LaunchSpec spec;
  spec.run = string_or(*object, "run", "");
  spec.attempt = int_or(*object, "attempt", 0);
  spec.nonce = string_or(*object, "nonce", "");
  spec.directory = string_or(*object, "directory", "/");
  auto argv = get_array(*object, "argv");
  auto environment = get_object(*object, "environment");
  if (!argv) return propagate(argv);
  if (!environment) return propagate(environment);
  for (const json::value& word : **argv) {
    if (!word.is_string()) return fail(ErrorKind::corrupt, "argv holds no text", file.string());
    spec.argv.emplace_back(word.get_string());
  }
  for (const auto& [key, text] : **environment) {
    if (!text.is_string()) {
      return fail(ErrorKind::corrupt, "environment holds no text", file.string());
    }
    spec.environment.emplace(key, text.get_string());
  }
  if (spec.argv.empty()) return fail(ErrorKind::corrupt, "argv is empty", file.string());
  return spec;
}

}  // namespace trainward
