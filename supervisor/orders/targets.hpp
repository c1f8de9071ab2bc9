// What the courier is told about checkpoints that leave the box: of a program, where its
// checkpoints lie, where they go to, when and how fast. Pure values, without a secret in them: keys
// and tokens are named by their files, or come from the courier's environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::orders {

// A folder that is there: another disk, a network file system.
struct FolderPlace {
  std::string folder;  // absolute
  friend bool operator==(const FolderPlace&, const FolderPlace&) = default;
};

// A bucket behind the S3 protocol, addressed by path.
struct S3Place {
  std::string endpoint;  // "https://s3.example.com", also with a path; no '/' at its end
  std::string bucket;
  std::string prefix;  // without '/' at either end; may be empty
  std::string region = "us-east-1";
  // Absolute, or a name in $CREDENTIALS_DIRECTORY. Empty: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
  // and AWS_SESSION_TOKEN of the environment.
  std::string credentials_file;
  friend bool operator==(const S3Place&, const S3Place&) = default;
};

// A model repository of the Hugging Face Hub.
struct HubPlace {
  std::string repo;  // "name" or "organization/name"
  bool is_private = true;
  std::string token_file;        // as credentials_file; empty: HF_TOKEN of the environment
  std::string history = "keep";  // keep | squash
  std::string form = "as-is";    // as-is | pytorch | safetensors | folder
  std::string endpoint;          // empty: HF_ENDPOINT of the environment, or huggingface.co
  std::string revision = "main";
  friend bool operator==(const HubPlace&, const HubPlace&) = default;
};

// Which of the verified checkpoints go up. With none of these: every one.
struct Cadence {
  std::int64_t every_ms = 0;     // at most one in so long; 0: no matter
  std::int64_t every_steps = 0;  // the first beyond each multiple; 0: no matter
  bool milestones = false;       // milestones alone
  friend bool operator==(const Cadence&, const Cadence&) = default;
};

struct Target {
  std::string name;  // [A-Za-z0-9_.-]{1,64}, of its own among the program's
  std::variant<FolderPlace, S3Place, HubPlace> place;
  Cadence cadence;
  friend bool operator==(const Target&, const Target&) = default;
};

// Hours of the day by the box's clock, in which checkpoints go up: minutes since midnight, `to` not
// included. It goes over midnight when `to` is before `from`.
struct Window {
  int from = 0;
  int to = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

struct Upload {
  std::vector<Target> targets;        // empty: nothing goes up
  std::int64_t bytes_per_second = 0;  // of each target; 0: no limit
  std::optional<Window> window;
  bool restore = false;  // an empty checkpoint folder is filled from the targets
  friend bool operator==(const Upload&, const Upload&) = default;
};

// Of one program.
struct Source {
  std::string program;
  std::string checkpoints;  // its checkpoint folder, absolute
  std::string directory;    // its working directory, absolute
  bool foreign = false;     // its checkpoints are files and folders found by pattern
  // Steps: a multiple is a milestone; 0: only what is pinned, and the last of a run that is done.
  std::int64_t milestone_every = 0;
  std::string user = {};  // as whom its files are opened; empty: as the courier itself
  // By which those of a foreign program are found, as `watch.checkpoints` has them.
  std::vector<std::string> patterns = {};
  friend bool operator==(const Source&, const Source&) = default;
};

struct UploadOrder {
  Source source;
  Upload upload;
  friend bool operator==(const UploadOrder&, const UploadOrder&) = default;
};

json::object to_json(const Upload& upload);
json::object to_json(const UploadOrder& order);
// What to_json() made; kind corrupt for anything else.
Result<Upload> upload_from_json(const json::value& value);
Result<UploadOrder> upload_order_from_json(const json::value& value);

// "folder", "s3", "hub".
std::string_view kind_of(const Target& target);
// For people, without secrets: "/mnt/nas/run", "https://s3.example/bucket/prefix", "hub:me/run".
std::string shown_place(const Target& target);
// The same with all that tells one place from another: what was sent to one is not at another.
std::string place_identity(const Target& target);

}  // namespace trainward::orders
