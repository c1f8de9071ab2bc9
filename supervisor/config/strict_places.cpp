// Where a daemon that starts programs as other users keeps and reads what decides over what it does
// as root, listens for root's commands, and finds what root runs: nobody else may be able to bend
// the way there.
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "common/os/path_trust.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::config {
namespace {

struct Place {
  std::string key;  // as the configuration calls it
  std::filesystem::path path;
};

void add_secrets(const Config& config, std::vector<Place>& places) {
  const auto add = [&](std::string key, const std::string& file) {
    if (file.starts_with('/')) places.push_back({std::move(key), file});
  };
  for (const std::string& file : config.listening.token_files) add("tokens", file);
  for (const orders::Channel& channel : config.channels) {
    for (const auto& [key, secret] : channel.secrets) {
      add(fmt::format("notify.channels.{}.{}", channel.name, key), secret.file);
    }
  }
  for (const Program& program : config.programs) {
    for (const orders::Target& target : program.upload.targets) {
      const std::string key = fmt::format("programs.{}.upload", program.name);
      if (const auto* s3 = std::get_if<orders::S3Place>(&target.place)) {
        add(key + ".credentials_file", s3->credentials_file);
      } else if (const auto* hub = std::get_if<orders::HubPlace>(&target.place)) {
        add(key + ".token_file", hub->token_file);
      }
    }
    if (program.tracking.mlflow) {
      add(fmt::format("programs.{}.tracking.mlflow", program.name),
          program.tracking.mlflow->token_file);
    }
  }
}

// What root runs itself: programs, and the scripts among their arguments.
void add_commands(const Config& config, std::vector<Place>& places) {
  const auto add = [&](const std::string& key, const std::string& word) {
    if (word.starts_with('/')) places.push_back({key, word});
  };
  for (const orders::Channel& channel : config.channels) {
    for (const auto& [key, words] : channel.words) {
      for (const std::string& word : words) {
        add(fmt::format("notify.channels.{}.{}", channel.name, key), word);
      }
    }
  }
  for (const Program& program : config.programs) {
    const std::string key = fmt::format("programs.{}", program.name);
    for (const auto& word : program.probe_command) add(key + ".probe_command", word.text());
    for (const auto& word : program.reset_command) add(key + ".reset_command", word.text());
  }
}

std::vector<Place> places_of(const Config& config) {
  std::vector<Place> places{{"state_dir", config.state_dir}, {"the configuration", config.file}};
  if (!config.rules.empty()) places.push_back({"rules", config.rules});
  if (!config.socket.empty()) places.push_back({"socket", config.socket});
  add_secrets(config, places);
  add_commands(config, places);
  return places;
}

std::string words(const Place& place, const WeakPlace& weak, const std::string& program) {
  std::string text = fmt::format(
      "{}: {}; since program '{}' runs as another user, whatever leads to {} must be root's alone: "
      "`{}`",
      place.key, describe(weak), program, place.path.string(), remedy(weak));
  if (place.key == "state_dir") text += ", or `state_dir: /var/lib/trainward`";
  if (place.key == "the configuration") text += ", or move it to /etc/trainward";
  return text;
}

}  // namespace

Problems check_places(const Config& config) {
  Problems problems;
  const auto other = std::ranges::find_if(config.programs, [](const Program& program) {
    return program.user && program.user->credentials.user != 0;
  });
  if (::geteuid() != 0 || other == config.programs.end()) return problems;
  for (const Place& place : places_of(config)) {
    const auto weak = weakest_place(place.path);
    const std::string file = config.file.string();
    if (!weak) {
      problems.push_back({file, 0, 0, place.key + ": " + weak.error().message()});
    } else if (*weak) {
      problems.push_back({file, 0, 0, words(place, **weak, other->name)});
    }
  }
  return problems;
}

}  // namespace trainward::config
