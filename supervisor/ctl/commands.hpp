// The commands, one small file a family. Each prints to the context's terminal and returns the exit
// code; docs/cli.md is the manual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/ctl/context.hpp"

namespace trainward::ctl {

using Names = std::vector<std::string>;

int status(const Context& context, const Names& names);

int start(const Context& context, const Names& names);
int stop(const Context& context, const Names& names);
int restart(const Context& context, const Names& names);  // all stopped before any starts

int pid(const Context& context, const std::string& name);  // "": the daemon's; "all"
int reread(const Context& context);
int update(const Context& context);
int reload(const Context& context);
int upgrade(const Context& context);  // to the program that is on the disk now
int shut_down(const Context& context);
int version(const Context& context);

struct TailRequest {
  std::string program;
  std::string stream = "stdout";
  std::int64_t bytes = 1600;
  bool follow = false;  // until interrupted, across attempts
};
int tail(const Context& context, const TailRequest& request);

int history(const Context& context, const std::string& program);  // "": all
int why(const Context& context, const std::string& program, std::optional<std::int64_t> attempt);
int report(const Context& context, const std::string& program);
int events(const Context& context, const std::string& program, int limit);

struct ProbeRequest {
  bool deep = false;   // also by tt-smi, of boards that nobody uses
  bool watch = false;  // again and again, until interrupted
  double every_s = 5;  // between two looks
};
int probe(const Context& context, const ProbeRequest& request);
int boards(const Context& context);  // on record; nothing is looked at
int board_samples(const Context& context, const std::string& serial, int limit);

// `place`: a checkpoint, a folder of checkpoints or a program (checkpoint_place.hpp).
int list_checkpoints(const Context& context, const std::string& name_or_folder);
int show_checkpoint(const Context& context, const std::string& place, bool with_tensors);
int verify_checkpoints(const Context& context, const std::string& place);
int digest_checkpoint(const Context& context, const std::string& place);
int diff_checkpoints(const Context& context, const std::string& first, const std::string& second);

struct PruneRequest {
  std::string place;
  int keep = 2;
  std::int64_t keep_every = 0;  // steps; 0: no milestones
  bool dry_run = false;
};
int prune_checkpoints(const Context& context, const PruneRequest& request);
int pin_checkpoint(const Context& context, const std::string& place, const std::string& reason);
int unpin_checkpoint(const Context& context, const std::string& place);
int repair_checkpoints(const Context& context, const std::string& place, bool dry_run);

struct ConvertRequest {
  std::string from;  // also a .safetensors file or a folder with a Hugging Face model
  std::string to;    // where checkpoints are kept; with weights_only the model's own folder
  std::string type;  // "F32", "BF16", "F16"; empty: as it is
  std::uint64_t shard_bytes = 0;
  bool weights_only = false;
};
int convert_checkpoint(const Context& context, const ConvertRequest& request);

struct ImportRequest {
  std::string file;  // of torch.save
  std::string to;    // where checkpoints are kept
  std::optional<std::int64_t> step;
  std::string run;
  std::uint64_t shard_bytes = 0;
};
int import_checkpoint(const Context& context, const ImportRequest& request);

struct ExportRequest {
  std::string place;
  std::string file;
  std::string like;    // the checkpoint that was imported, or empty
  std::string layout;  // "zip", "legacy"; empty: as the imported file
};
int export_checkpoint(const Context& context, const ExportRequest& request);

struct CacheRequest {
  std::string folder;  // empty: STATE_DIR/cache/programs
  bool repair = false;
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::int64_t> older_than_ms;
};
int list_programs(const Context& context, const CacheRequest& request);
int verify_programs(const Context& context, const CacheRequest& request);
int prune_programs(const Context& context, const CacheRequest& request);
int clear_programs(const Context& context, const CacheRequest& request);

struct ClassifyRequest {
  std::string file;   // "-": standard input
  std::string rules;  // a rules file of the user, or empty
  std::optional<int> exit_code;
  std::optional<int> signal;
};
int classify(const Context& context, const ClassifyRequest& request);

int check_config(const Context& context, const std::string& file);
// What trainward-worker is given for a program, as JSON; `name` empty: for the only one.
int show_worker_config(const Context& context, const std::string& file, const std::string& name);

}  // namespace trainward::ctl
