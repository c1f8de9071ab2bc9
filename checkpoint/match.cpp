#include <map>

#include "checkpoint/reader.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::size_t max_listed = 20;

std::string describe(const TensorInfo& info) {
  return fmt::format("{}[{}]", to_string(info.dtype), fmt::join(info.shape, ","));
}

}  // namespace

Status match(std::string_view what, const std::vector<TensorInfo>& there,
             const std::vector<TensorTarget>& targets) {
  std::map<std::string_view, const TensorInfo*> by_name;
  for (const TensorInfo& info : there) by_name[info.name] = &info;
  std::vector<std::string> wrong;
  for (const TensorTarget& target : targets) {
    const auto found = by_name.find(target.info.name);
    if (found == by_name.end()) {
      wrong.push_back(fmt::format("{} is missing", target.info.name));
    } else if (found->second->dtype != target.info.dtype ||
               found->second->shape != target.info.shape) {
      wrong.push_back(fmt::format("{} is {} instead of {}", target.info.name,
                                  describe(*found->second), describe(target.info)));
    }
  }
  if (wrong.empty()) return {};
  const std::size_t differ = wrong.size();
  if (differ > max_listed) {
    wrong.resize(max_listed);
    wrong.push_back(fmt::format("and {} more", differ - max_listed));
  }
  return fail(ErrorKind::usage,
              fmt::format("is of another {}: {} of {} tensors differ: {}", what, differ,
                          targets.size(), fmt::join(wrong, "; ")),
              {}, "resume with the settings it was saved with, or from another checkpoint");
}

}  // namespace trainward::checkpoint
