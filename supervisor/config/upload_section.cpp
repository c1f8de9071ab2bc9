// upload: where a program's verified checkpoints go to besides its own disk, when and how fast.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/text.hpp"
#include "common/yaml/map_reader.hpp"
#include "common/yaml/scalar.hpp"
#include "supervisor/config/reading/config_reading.hpp"
#include "supervisor/config/reading/secret_path.hpp"
#include "supervisor/config/sections.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::config {
namespace {

// By what is behind "http://": an address of loopback, or a name that never leads elsewhere.
bool is_this_machine(std::string_view address) {
  std::string host = lower_case(address.substr(0, address.find('/')));
  if (host.starts_with("[::1]")) return true;
  host.resize(std::min(host.find(':'), host.size()));
  in_addr digits{};
  if (::inet_pton(AF_INET, host.c_str(), &digits) == 1) return host.starts_with("127.");
  return host == "localhost" || host.ends_with(".localhost");
}

using yaml::MapReader;
using yaml::Node;

constexpr std::array<std::string_view, 3> place_kinds{"folder", "s3", "hub"};
constexpr std::size_t most_targets = 16;
constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t year_ms = 365 * 24 * 60 * minute_ms;
constexpr std::int64_t tib = std::int64_t{1} << 40;
constexpr std::int64_t most_steps = 1'000'000'000;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && consists_of(text, "_.-") && text != "." &&
         text != "..";
}

std::optional<orders::Window> window_in(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto from = minute_of_day(text.substr(0, dash));
  if (!from) return std::nullopt;
  const auto to = minute_of_day(text.substr(dash + 1));
  if (!to) return std::nullopt;
  return orders::Window{*from % 1440, *to % 1440};
}

std::optional<orders::Window> read_window(MapReader& map) {
  const Node* node = map.take("window");
  if (node == nullptr) return std::nullopt;
  auto window = node->kind == Node::Kind::scalar ? window_in(node->text) : std::nullopt;
  if (!window) {
    map.report(
        "window", *node,
        "expected hours of the day in quotes, such as \"22:00-07:00\", found " + describe(*node));
  } else if (window->from == window->to) {
    map.report("window", *node, "begins when it ends; leave it out for the whole day");
    window.reset();
  }
  return window;
}

// One of three keys may say when; of two, one would never count.
orders::Cadence read_cadence(MapReader& map, const orders::Cadence& otherwise) {
  orders::Cadence out;
  constexpr std::array<std::string_view, 3> keys{"every", "every_steps", "milestones"};
  std::vector<std::string_view> given;
  for (const std::string_view key : keys) {
    if (map.node().find(key) != nullptr) given.push_back(key);
  }
  out.every_ms = map.duration_ms("every", 0, {0, year_ms});
  out.every_steps = map.integer("every_steps", 0, {1, most_steps});
  out.milestones = map.boolean("milestones", false);
  if (given.empty()) return otherwise;
  if (given.size() > 1) {
    map.report(
        given[1], *map.node().find(given[1]),
        fmt::format("stands beside '{}': one of every, every_steps and milestones says which "
                    "checkpoints go up",
                    given[0]));
  }
  return out;
}

std::string text_of(MapReader& map, std::string_view key, std::string_view expected) {
  const Node* node = map.take(key);
  if (node == nullptr) return {};
  const bool text = node->kind == Node::Kind::scalar && !node->text.empty() &&
                    std::none_of(node->text.begin(), node->text.end(),
                                 [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (text) return node->text;
  map.report(key, *node, fmt::format("expected {}", expected));
  return {};
}

std::string read_secret_file(MapReader& map, std::string_view key, const Folders& folders) {
  const Node* node = map.take(key);
  const auto path = node == nullptr ? std::nullopt : secret_path(map, key, *node, folders);
  return path ? path->string() : std::string();
}

orders::FolderPlace read_folder(MapReader& map, const Folders& folders) {
  const Node* node = map.take("folder");
  if (node == nullptr) return {};
  if (node->kind != Node::Kind::scalar || node->text.empty() ||
      node->text.find('\0') != std::string::npos) {
    map.report("folder", *node,
               "expected a folder, such as /mnt/nas/run, found " + describe(*node));
    return {};
  }
  auto path = folders.resolve(*node).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
  return {path.string()};
}

// A path below a bucket, as every server takes it.
bool is_prefix(std::string_view text) {
  if (text.size() > 512 || !consists_of(text, "_.-/=+@ ")) return false;
  if (text.starts_with('/') || text.ends_with('/') || text.find("//") != text.npos) return false;
  for (const std::filesystem::path& part : std::filesystem::path(text)) {
    if (part == "." || part == "..") return false;
  }
  return true;
}

orders::S3Place read_s3(MapReader& map, const Folders& folders) {
  orders::S3Place out;
  map.need("endpoint", "the server's address, such as https://s3.eu-central-1.amazonaws.com");
  map.need("bucket", "the bucket's name");
  out.endpoint = text_of(map, "endpoint", "an address such as https://s3.example.com");
  while (out.endpoint.ends_with('/')) out.endpoint.pop_back();
  const Node* endpoint = map.node().find("endpoint");
  const bool address = out.endpoint.starts_with("https://") || out.endpoint.starts_with("http://");
  if (!out.endpoint.empty() &&
      (!address || out.endpoint.find_first_of("?#@ ") != std::string::npos)) {
    map.report("endpoint", *endpoint,
               "expected https:// and a host, perhaps with a path, without user, '?' or '#'");
  }
  if (out.endpoint.starts_with("http://")) {
    if (!is_this_machine(std::string_view(out.endpoint).substr(7)) && folders.notes != nullptr) {
      folders.notes->push_back(
          {endpoint->mark, map.path_of("endpoint") +
                               ": goes over the network without encryption; https:// keeps "
                               "checkpoints and signatures from being read on the way"});
    }
  }
  out.bucket = text_of(map, "bucket", "the bucket's name");
  if (!out.bucket.empty() && (out.bucket.size() > 255 || !consists_of(out.bucket, "_.-") ||
                              out.bucket == "." || out.bucket == "..")) {
    map.report(
        "bucket", *map.node().find("bucket"),
        "expected letters, digits, dots, hyphens and underlines; what comes below the bucket "
        "is 'prefix'");
  }
  if (map.node().find("prefix") != nullptr) {
    out.prefix = text_of(map, "prefix", "a path below the bucket, such as runs/gpt");
    if (!is_prefix(out.prefix)) {
      map.report("prefix", *map.node().find("prefix"),
                 "expected a path such as runs/gpt, without '/' at its ends, '//' or '..'");
    }
  } else {
    (void)map.take("prefix");
  }
  if (map.node().find("region") != nullptr) {
    out.region = text_of(map, "region", "a region, such as us-east-1, or auto");
    if (!is_name(out.region)) {
      map.report("region", *map.node().find("region"), "expected a region, such as us-east-1");
    }
  } else {
    (void)map.take("region");
  }
  out.credentials_file = read_secret_file(map, "credentials_file", folders);
  return out;
}

orders::HubPlace read_hub(MapReader& map, const Folders& folders) {
  constexpr std::array<std::string_view, 2> histories{"keep", "squash"};
  constexpr std::array<std::string_view, 4> forms{"as-is", "pytorch", "safetensors", "folder"};
  orders::HubPlace out;
  map.need("repo", "a repository, such as me/my-run");
  out.repo = text_of(map, "repo", "a repository, such as me/my-run");
  const auto slash = out.repo.find('/');
  const bool two = slash != std::string::npos;
  if (!out.repo.empty() && (!is_name(two ? out.repo.substr(0, slash) : out.repo) ||
                            (two && (out.repo.size() - slash - 1 > 96 ||
                                     !consists_of(out.repo.substr(slash + 1), "_.-") ||
                                     out.repo.size() == slash + 1)))) {
    map.report("repo", *map.node().find("repo"),
               "expected NAME or OWNER/NAME of letters, digits, dots, hyphens and underlines");
  }
  out.is_private = map.boolean("private", out.is_private);
  out.token_file = read_secret_file(map, "token_file", folders);
  out.history = map.one_of("history", histories, out.history);
  out.form = map.one_of("form", forms, out.form);
  if (map.node().find("endpoint") != nullptr) {
    out.endpoint = text_of(map, "endpoint", "an address such as https://huggingface.co");
    while (out.endpoint.ends_with('/')) out.endpoint.pop_back();
    if (!out.endpoint.starts_with("https://") && !out.endpoint.starts_with("http://")) {
      map.report("endpoint", *map.node().find("endpoint"), "expected https:// and a host");
    }
  } else {
    (void)map.take("endpoint");
  }
  if (map.node().find("revision") != nullptr) {
    out.revision = text_of(map, "revision", "a branch, such as main");
  } else {
    (void)map.take("revision");
  }
  return out;
}

void read_place(MapReader& map, const Folders& folders, orders::Target& target) {
  std::vector<std::string_view> given;
  for (const std::string_view kind : place_kinds) {
    if (map.node().find(kind) != nullptr) given.push_back(kind);
  }
  target.place = read_folder(map, folders);
  in_section(
      map, "s3", [&](MapReader& s3) { target.place = read_s3(s3, folders); },
      "{endpoint: https://s3.example.com, bucket: my-runs}");
  in_section(
      map, "hub", [&](MapReader& hub) { target.place = read_hub(hub, folders); },
      "{repo: me/my-run}");
  if (given.empty()) {
    map.need("folder",
             "a place: {folder: /mnt/nas/run}, {s3: {endpoint: …, bucket: …}} or "
             "{hub: {repo: me/my-run}}");
  } else if (given.size() > 1) {
    map.report(
        given[1], *map.node().find(given[1]),
        fmt::format("stands beside '{}': a target is one place; write another target", given[0]));
  }
}

void read_targets(MapReader& map, const Folders& folders, const orders::Cadence& cadence,
                  orders::Upload& upload) {
  const Node* node = map.take("targets");
  if (node == nullptr) return;
  if (node->kind != Node::Kind::map || node->members.empty() ||
      node->members.size() > most_targets) {
    return map.report("targets", *node,
                      fmt::format("expected 1 to {} targets by name, such as "
                                  "{{nas: {{folder: /mnt/nas/run}}}}",
                                  most_targets));
  }
  for (const yaml::Member& member : node->members) {
    orders::Target target;
    target.name = member.key;
    const std::string all = map.path_of("targets");
    const std::string path = all + "." + member.key;
    if (!is_name(member.key) || member.key == "all") {
      map.problems().push_back(
          {member.mark, fmt::format("{}: a target's name has 1 to 64 of A-Z a-z 0-9 _ . -, and is "
                                    "not 'all'",
                                    all)});
      continue;
    }
    MapReader reader(member.value, path, map.problems(), "{hub: {repo: me/my-run}}");
    read_place(reader, folders, target);
    target.cadence = read_cadence(reader, cadence);
    reader.finish();
    upload.targets.push_back(std::move(target));
  }
}

// What a target is, said where the targets belong.
void report_places_without_a_name(MapReader& map) {
  for (const std::string_view kind : place_kinds) {
    const Node* node = map.take(kind);
    if (node == nullptr) continue;
    map.report(
        kind, *node,
        fmt::format("belongs to a target, which has a name: `targets: {{mine: {{{}: …}}}}`", kind));
  }
}

// A model's folder is written for the architecture that a Hugging Face folder has told.
void check_forms(MapReader& map, const Program& program) {
  if (!program.command.empty()) return;
  const json::object& training = program.worker.at("training_config").as_object();
  if (!string_or(training, "base_model", "").empty()) return;
  for (const orders::Target& target : program.upload.targets) {
    const auto* hub = std::get_if<orders::HubPlace>(&target.place);
    if (hub == nullptr || hub->form != "folder") continue;
    map.report("targets", *map.node().find("targets"),
               fmt::format("target '{}': form 'folder' needs a training with 'base_model'; write "
                           "safetensors, or leave 'form' out",
                           target.name));
  }
}

// Not in a form that is made for others.
bool gets_all_of_it(const orders::Target& target) {
  const auto* hub = std::get_if<orders::HubPlace>(&target.place);
  return hub == nullptr || hub->form == "as-is";
}

}  // namespace

orders::UploadOrder upload_order_of(const Program& program,
                                    const std::filesystem::path& checkpoints) {
  orders::Source source;
  source.program = program.name;
  source.checkpoints = checkpoints.string();
  source.directory = program.directory.string();
  source.foreign = !program.watch.checkpoints.empty();
  source.patterns = program.watch.checkpoints;
  source.milestone_every = program.checkpoints_keep_every;
  if (program.user) source.user = program.user->name;
  return {std::move(source), program.upload};
}

void read_upload(MapReader& program, const Folders& folders, Program& out) {
  in_section(program, "upload", [&](MapReader& map) {
    const orders::Cadence cadence = read_cadence(map, {});
    const std::size_t before = map.problems().size();
    report_places_without_a_name(map);
    if (map.problems().size() == before) {
      map.need("targets", "where to, such as {nas: {folder: /mnt/nas/run}}");
    }
    read_targets(map, folders, cadence, out.upload);
    check_forms(map, out);
    constexpr std::int64_t least = 1024;
    out.upload.bytes_per_second = map.size_bytes("bandwidth", 0, {least, tib});
    out.upload.window = read_window(map);
    out.upload.restore = map.boolean("restore", false);
    if (out.upload.restore && out.watch.checkpoints.empty() &&
        std::none_of(out.upload.targets.begin(), out.upload.targets.end(), gets_all_of_it)) {
      map.report("restore", *map.node().find("restore"),
                 "no target gets checkpoints that can be resumed from: leave out 'form' of one, or "
                 "add a target");
    }
    if (!out.command.empty() && out.watch.checkpoints.empty() && !out.watch.protocol) {
      program.report("upload", *program.node().find("upload"),
                     "needs checkpoints to send: say in watch.checkpoints where the command writes "
                     "them, such as [\"out/*.pt\"]");
    }
  });
}

}  // namespace trainward::config
