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

// What belongs where root alone may write.
enum class Kind { state, file, socket, program };

struct Place {
  std::string key;  // as the configuration calls it
  std::filesystem::path path;
  Kind kind = Kind::file;
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
    if (word.starts_with('/')) places.push_back({key, word, Kind::program});
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
  std::vector<Place> places{{"state_dir", config.state_dir, Kind::state},
                            {"the configuration", config.file}};
  if (!config.rules.empty()) places.push_back({"rules", config.rules});
  if (!config.socket.empty()) places.push_back({"socket", config.socket, Kind::socket});
  add_secrets(config, places);
  add_commands(config, places);
  return places;
}

// A home stays its user's: what root relies on goes elsewhere.
std::string elsewhere(const Place& place) {
  const std::string name = place.path.filename().string();
  const auto copied = [&](std::string_view mode, std::string_view folder) {
    return fmt::format("`install -D -o root -g root -m {} {} {}/{}` and name that file", mode,
                       place.path.string(), folder, name);
  };
  switch (place.kind) {
    case Kind::state:
      return "`state_dir: /var/lib/trainward`";
    case Kind::socket:
      return "`socket: /run/trainward/trainward.sock`";
    case Kind::program:
      return copied("755", "/usr/local/sbin");
    case Kind::file:
      break;
  }
  return copied("600", "/etc/trainward");
}

std::string words(const Place& place, const WeakPlace& weak, const Program& program) {
  const std::string why = fmt::format(
      "{}: {}; since program '{}' runs as another user, whatever leads to {} must be root's alone",
      place.key, describe(weak), program.name, place.path.string());
  if (weak.owner == 0) return fmt::format("{}: `{}`, or {}", why, remedy(weak), elsewhere(place));
  std::string text = fmt::format("{}: {}", why, elsewhere(place));
  if (weak.owner == program.user->credentials.user) {
    text += fmt::format(", or run trainwardd as {}, without `user:`", program.user->name);
  }
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
      problems.push_back({file, 0, 0, words(place, **weak, *other)});
    }
  }
  return problems;
}

}  // namespace trainward::config
