// As whom a program runs, with which umask and limits: user, group, umask, and what of `limits:`
// the kernel keeps for each process.
#include <fmt/format.h>

#include <utility>

#include "common/base/number_in.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/sections.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

bool is_word(const Node& node) {
  return node.kind == Node::Kind::scalar && !node.text.empty() &&
         node.text.find('\0') == std::string::npos;
}

// Always octal, with or without a zero or 0o before it, as umask(1) and supervisord have it.
std::optional<unsigned> octal(std::string_view text) {
  if (text.starts_with("0o")) text.remove_prefix(2);
  const auto value = number_in<unsigned>(text, 8);
  return value && *value <= 0777 ? value : std::nullopt;
}

void read_umask(MapReader& reader, Program& program) {
  const Node* node = reader.take("umask");
  if (node == nullptr) return;
  if (node->kind == Node::Kind::scalar) program.umask = octal(node->text);
  if (program.umask) return;
  reader.report("umask", *node,
                "expected three octal digits from 000 to 777, as in 022; found " + describe(*node));
}

std::optional<std::uint64_t> one_limit(std::string_view text, bool bytes) {
  if (text == "unlimited") return unlimited;
  const auto number = bytes ? yaml::parse_size_bytes(text) : yaml::parse_whole(text);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

// One value is both limits; two with a colon between them are the soft and the hard one.
std::optional<ResourceLimit> limit_in(const std::string& text, const ResourceKind& kind) {
  const auto colon = text.find(':');
  const auto soft = one_limit(text.substr(0, colon), kind.bytes);
  const auto hard =
      colon == std::string::npos ? soft : one_limit(text.substr(colon + 1), kind.bytes);
  if (!soft || !hard || *soft > *hard) return std::nullopt;
  return ResourceLimit{std::string(kind.name), *soft, *hard};
}

}  // namespace

void read_run_as(MapReader& reader, const Folders& folders, Program& program) {
  const Node* user = reader.take("user");
  const Node* group = reader.take("group");
  read_umask(reader, program);
  if (user == nullptr && group != nullptr) {
    return reader.report("group", *group, "goes with 'user', and none is given");
  }
  if (user == nullptr) return;
  if (!is_word(*user)) {
    return reader.report("user", *user, "expected a name or a number, found " + describe(*user));
  }
  if (group != nullptr && !is_word(*group)) {
    return reader.report("group", *group, "expected a name or a number, found " + describe(*group));
  }
  auto found = find_user(user->text, group == nullptr ? "" : group->text);
  if (!found) {
    const Error& error = found.error();
    const std::string hint = error.hint.empty() ? "" : "; " + error.hint;
    return reader.report("user", *user, error.what + hint);
  }
  program.user = std::move(*found);
  if (folders.notes == nullptr) return;
  if (const auto may = may_run_as(*program.user); !may) {
    folders.notes->push_back({user->mark, fmt::format("programs.{}.user: {}; {}", program.name,
                                                      may.error().what, may.error().hint)});
  }
}

void read_resource_limits(MapReader& limits, Program& program) {
  for (const ResourceKind& kind : resource_kinds) {
    const Node* node = limits.take(kind.name);
    if (node == nullptr) continue;
    auto limit = node->kind == Node::Kind::scalar ? limit_in(node->text, kind) : std::nullopt;
    if (limit) {
      program.resource_limits.push_back(std::move(*limit));
      continue;
    }
    limits.report(
        kind.name, *node,
        fmt::format("expected {}, 'unlimited', or the soft and the hard limit as in '{}'; found {}",
                    kind.bytes ? "a size, such as 64MiB or 0B" : "a whole number",
                    kind.bytes ? "64MiB:unlimited" : "1024:65536", describe(*node)));
  }
}

Problems check_run_as(const Config& config) {
  Problems problems;
  for (const Program& program : config.programs) {
    if (!program.user) continue;
    if (const auto may = may_run_as(*program.user); !may) {
      problems.push_back({config.file.string(), 0, 0,
                          fmt::format("programs.{}.user: {}; {}", program.name, may.error().what,
                                      may.error().hint)});
    }
  }
  return problems;
}

}  // namespace trainward::config
