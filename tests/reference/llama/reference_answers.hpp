// What the PyTorch reference answered (cases.py), read back.
//
// The files are made once for all tests, by a test of their own; where PyTorch is not installed
// there are none, and whoever needs them is skipped. A file that is there and cannot be read fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::trainer::test {

// The value, or an exception with the error's message: the test fails by it.
template <typename T>
T checked(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return *std::move(result);
}

// The folder of all answers; whether they are there.
std::filesystem::path answers_folder();
bool has_answers();

// cases.json: what it says of each case of a group, by name.
std::map<std::string, json::object> cases_of(std::string_view group);

class Answers {
 public:
  explicit Answers(const std::string& name);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Of the command line that made them; absent ones are null.
  [[nodiscard]] const json::object& options() const { return options_; }
  [[nodiscard]] bool has(const std::string& tensor) const { return infos_.contains(tensor); }
  [[nodiscard]] const std::vector<std::int64_t>& shape(const std::string& tensor) const;
  // Whatever their type is.
  [[nodiscard]] std::vector<double> numbers(const std::string& tensor) const;
  // Names of the tensors that begin so, without that beginning.
  [[nodiscard]] std::vector<std::string> behind(std::string_view prefix) const;

 private:
  struct Place {
    checkpoint::TensorInfo info;
    std::size_t begin = 0;
  };
  std::string name_;
  json::object options_;
  std::vector<std::byte> file_;
  std::map<std::string, Place> infos_;
};

}  // namespace trainward::trainer::test
