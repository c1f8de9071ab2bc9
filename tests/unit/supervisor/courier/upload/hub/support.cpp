#include "support.hpp"

#include <fcntl.h>

#include <fstream>
#include <iterator>
#include <random>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "common/os/file.hpp"

namespace trainward::upload::test {
namespace {

Result<json::object> read_object(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return json::object();
  auto text = read_file(file, 64 << 20);
  if (!text) return propagate(text);
  auto value = parse_json(*text, file.string());
  if (!value) return propagate(value);
  return value->get_object();
}

}  // namespace

Result<std::optional<std::string>> FileMemory::get(const std::string& key) {
  auto object = read_object(file_);
  if (!object) return propagate(object);
  if (!object->contains(key)) return std::optional<std::string>();
  return std::optional<std::string>(string_or(*object, key, ""));
}

Status FileMemory::put(const std::string& key, const std::string& value) {
  auto object = read_object(file_);
  if (!object) return propagate(object);
  (*object)[key] = value;
  return write_file_durably(file_, json::serialize(*object));
}

Status FileMemory::forget(const std::string& prefix) {
  auto object = read_object(file_);
  if (!object) return propagate(object);
  json::object left;
  for (const auto& [key, value] : *object) {
    if (!view(key).starts_with(prefix)) left[key] = value;
  }
  return write_file_durably(file_, json::serialize(left));
}

std::string FileMemory::text() const {
  std::ifstream in(file_, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Package package_of(const TemporaryFolder& folder, const std::string& name, std::int64_t step,
                   const std::vector<Content>& files) {
  Package package;
  package.program = "trainer";
  package.name = name;
  package.step = step;
  package.saved_ms = 1'700'000'000'000 + step;
  package.origin = "{checkpoint_dir}/" + name;
  for (const Content& content : files) {
    const auto path = folder.write(name + "/" + content.name, content.bytes);
    File file;
    file.name = content.name;
    file.descriptor = std::move(*open_regular(path, O_RDONLY | O_CLOEXEC));
    file.size = static_cast<std::int64_t>(content.bytes.size());
    file.sha256 = sha256_hex(content.bytes);
    package.files.push_back(std::move(file));
  }
  return package;
}

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  if (size > 0) out[0] = '\0';
  return out;
}

std::vector<Content> checkpoint_files(unsigned seed) {
  return {{"MANIFEST.json", "{\"seed\": " + std::to_string(seed) + "}\n"},
          {"model.safetensors", noise(5'000, seed)},
          {"optimizer.safetensors", noise(12'345, seed + 1)},
          {"state.json", "{}\n"},
          {"empty", ""}};
}

std::unique_ptr<Target> target_at(const std::string& endpoint, const std::filesystem::path& token,
                                  Memory& memory, orders::HubPlace place, const hub::Times& times,
                                  const TargetOptions& options) {
  if (place.repo.empty()) place.repo = "me/run";
  place.endpoint = endpoint;
  place.token_file = token.string();
  return make_hub_target(place, memory, options, times);
}

}  // namespace trainward::upload::test
