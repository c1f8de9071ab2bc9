#include "reference_answers.hpp"

#include <cstring>
#include <fstream>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/format/safetensors.hpp"
#include "common/os/json_file.hpp"

namespace trainward::trainer::test {
namespace {

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::vector<std::byte> bytes(std::filesystem::file_size(path));
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

}  // namespace

std::filesystem::path answers_folder() { return LLAMA_ANSWERS; }

bool has_answers() { return std::filesystem::exists(answers_folder() / "cases.json"); }

std::map<std::string, json::object> cases_of(std::string_view group) {
  std::map<std::string, json::object> found;
  const json::value all =
      checked(read_json_file(answers_folder() / "cases.json", std::size_t{1} << 20));
  for (const auto& [name, said] : all.as_object()) {
    if (string_or(said.as_object(), "group", "") == group) found[name] = said.as_object();
  }
  return found;
}

Answers::Answers(const std::string& name)
    : name_(name), file_(bytes_of(answers_folder() / (name + ".safetensors"))) {
  const checkpoint::Header header = checked(checkpoint::read_safetensors_header(file_, name));
  options_ = checked(parse_json(header.metadata.at("options"), name)).as_object();
  for (const checkpoint::Slot& slot : header.slots) {
    infos_[slot.info.name] = {slot.info, static_cast<std::size_t>(header.data_offset + slot.begin)};
  }
}

const std::vector<std::int64_t>& Answers::shape(const std::string& tensor) const {
  return infos_.at(tensor).info.shape;
}

std::vector<double> Answers::numbers(const std::string& tensor) const {
  const auto& [info, begin] = infos_.at(tensor);
  const std::size_t each = checkpoint::bits_of(info.dtype) / 8;
  std::vector<double> numbers(static_cast<std::size_t>(checkpoint::byte_count(info).value()) /
                              each);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::byte* at = file_.data() + begin + i * each;
    std::int32_t whole = 0;
    if (checkpoint::is_float(info.dtype)) {
      numbers[i] = checkpoint::float_at(info.dtype, at);
    } else {
      std::memcpy(&whole, at, sizeof whole);
      numbers[i] = whole;
    }
  }
  return numbers;
}

std::vector<std::string> Answers::behind(std::string_view prefix) const {
  std::vector<std::string> names;
  for (const auto& [name, place] : infos_) {
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
  }
  return names;
}

}  // namespace trainward::trainer::test
