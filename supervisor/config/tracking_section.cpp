// tracking: where a program's curve is shown besides our own page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/config/reading/secret_path.hpp"
#include "supervisor/config/reading/secrets.hpp"
#include "supervisor/config/sections.hpp"
#include "supervisor/config/tracked.hpp"

namespace trainward::config {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::int64_t billion = 1'000'000'000;
constexpr std::string_view a_url = "the address of a server, such as https://mlflow.example.org";
constexpr std::string_view usual_experiment = "trainward";

bool is_text(const Node& node) {
  return node.kind == Node::Kind::scalar && !node.text.empty() &&
         node.text.find('\0') == std::string::npos;
}

// Without '/' at its end; nothing if invalid. A password has no place in it: it would be seen
// wherever the configuration is.
std::optional<std::string> url_in(MapReader& map, std::string_view key, const Node& node) {
  const std::string& text = node.text;
  const bool http = text.starts_with("http://") || text.starts_with("https://");
  const std::string_view rest = std::string_view(text).substr(http ? text.find("://") + 3 : 0);
  const std::string_view host = rest.substr(0, rest.find('/'));
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isgraph(c) != 0 && c != '?' && c != '#';
  });
  if (host.find('@') != std::string_view::npos) {
    map.report(key, node,
               "has a user or password in it: put `user:password` into a file of mode 600 and name "
               "it in token_file");
    return std::nullopt;
  }
  if (node.kind != Node::Kind::scalar || !http || host.empty() || !plain) {
    map.report(key, node, fmt::format("expected {}, found {}", a_url, describe(node)));
    return std::nullopt;
  }
  std::string url = text;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// A file of a secret, or env:NAME. It is read when it is needed.
std::string read_token_file(MapReader& map, const Folders& folders) {
  const Node* node = map.take("token_file");
  if (node == nullptr) return "";
  if (!is_text(*node)) {
    map.report("token_file", *node, "expected a file, found " + describe(*node));
    return "";
  }
  constexpr std::string_view variable_prefix = "env:";
  if (node->text.starts_with(variable_prefix)) {
    if (variable_name(std::string_view(node->text).substr(variable_prefix.size()))) {
      return node->text;
    }
    map.report("token_file", *node, "expected env: and the name of a variable");
    return "";
  }
  const auto path = secret_path(map, "token_file", *node, folders);
  return path ? path->string() : std::string();
}

orders::Mlflow read_server(MapReader& map, const Folders& folders, const orders::Mlflow& usual) {
  orders::Mlflow out = usual;
  if (const Node* url = map.take("url")) {
    out.url = url_in(map, "url", *url).value_or("");
  } else if (out.url.empty()) {
    map.need("url", a_url);
  }
  if (const Node* name = map.take("experiment")) {
    if (!is_text(*name) || name->text.size() > 250) {
      map.report("experiment", *name, "expected a name of at most 250 bytes");
    } else {
      out.experiment = name->text;
    }
  }
  if (map.node().find("token_file") != nullptr) out.token_file = read_token_file(map, folders);
  return out;
}

// false takes away what stands at the top of the file.
bool is_false(const Node& node) {
  return node.kind == Node::Kind::scalar && !node.quoted &&
         (node.text == "false" || node.text == "off" || node.text == "no");
}

void read_mlflow(MapReader& map, const Folders& folders, orders::Tracking& tracking) {
  const Node* node = map.take("mlflow");
  if (node == nullptr) return;
  if (is_false(*node)) return tracking.mlflow.reset();
  orders::Mlflow usual = tracking.mlflow.value_or(orders::Mlflow{});
  if (usual.experiment.empty()) usual.experiment = usual_experiment;
  if (node->kind == Node::Kind::map) {
    MapReader server(*node, map.path_of("mlflow"), map.problems());
    tracking.mlflow = read_server(server, folders, usual);
    server.finish();
  } else if (const auto url = url_in(map, "mlflow", *node)) {
    usual.url = *url;
    tracking.mlflow = usual;
  }
}

}  // namespace

orders::Tracking read_tracking(MapReader& reader, const Folders& folders,
                               const orders::Tracking& usual) {
  orders::Tracking tracking = usual;
  const Node* whole = reader.node().find("tracking");
  if (whole != nullptr && is_false(*whole)) {
    (void)reader.take("tracking");
    return {};
  }
  in_section(reader, "tracking", [&](MapReader& map) {
    tracking.every = map.integer("every", tracking.every, {1, billion});
    if (const Node* folder = map.take("tensorboard")) {
      if (is_false(*folder)) {
        tracking.tensorboard.clear();
      } else if (is_text(*folder)) {
        tracking.tensorboard = folders.resolve(*folder).string();
      } else {
        map.report("tensorboard", *folder, "expected a folder, found " + describe(*folder));
      }
    }
    read_mlflow(map, folders, tracking);
  });
  return tracking;
}

// ---- what a tracker is told of a program ----

namespace {

// Texts, numbers and flags by dotted names; a list is its JSON.
void flatten(const std::string& path, const json::value& value, json::object& out) {
  if (const auto* object = value.if_object()) {
    for (const auto& [key, inner] : *object) {
      flatten(path.empty() ? std::string(key) : fmt::format("{}.{}", path, view(key)), inner, out);
    }
    return;
  }
  if (value.is_null()) return;
  const std::string text =
      value.is_string() ? std::string(value.get_string()) : json::serialize(value);
  if (looks_secret(path, text)) return;
  out[path] = value.is_array() ? json::value(text) : value;
}

// --lr 3e-4, --lr=3e-4 and --flag of a command line, by their names without hyphens.
void read_options(const std::vector<std::string>& words, json::object& out) {
  const auto value_of = [](const std::string& text) -> json::value {
    const auto parsed = parse_json(text, "");
    return parsed && (parsed->is_number() || parsed->is_bool()) ? *parsed : json::value(text);
  };
  const auto is_option = [&](const std::string& word) {
    return word.starts_with('-') && !value_of(word).is_number();
  };
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto begin = word.find_first_not_of('-');
    if (!is_option(word) || begin == std::string::npos || begin > 2) continue;
    const auto equals = word.find('=');
    const std::string name = word.substr(begin, equals - begin);
    if (name.empty()) continue;
    if (equals != std::string::npos) {
      out[name] = value_of(word.substr(equals + 1));
    } else if (i + 1 < words.size() && !is_option(words[i + 1])) {
      out[name] = value_of(words[++i]);
    } else {
      out[name] = true;
    }
  }
}

std::vector<std::string> words_of(const foreign::Command& command) {
  std::vector<std::string> words;
  for (const foreign::Argument& argument : command) {
    for (const foreign::Template& word : argument.words) words.push_back(word.text());
  }
  return words;
}

}  // namespace

json::object hparams_of(const Program& program) {
  json::object out;
  if (program.command.empty()) {
    flatten("", program.worker, out);
    return out;
  }
  const std::vector<std::string> words = without_secrets(words_of(program.command));
  read_options(words, out);
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  out["command"] = command;
  return out;
}

std::vector<orders::TrackingOrder> tracking_orders(const Config& config) {
  std::vector<orders::TrackingOrder> orders;
  for (const Program& program : config.programs) {
    if (program.tracking.empty()) continue;
    orders.push_back({program.name, program.tracking, hparams_of(program)});
  }
  return orders;
}

}  // namespace trainward::config
