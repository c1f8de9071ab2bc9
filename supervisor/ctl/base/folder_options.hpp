// The options of commands that write a folder as Hugging Face's tools have it, and their answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "checkpoint/huggingface/export.hpp"
#include "supervisor/ctl/base/cli.hpp"

namespace trainward::ctl {

struct FolderRequest {
  std::string folder;     // the new one
  std::string type;       // "f32", "bf16", "f16"; empty: as in the base
  std::string base;       // empty: where the run began from
  std::string tokenizer;  // empty: the base's
  std::uint64_t shard_bytes = checkpoint::huggingface::ExportOptions().shard_bytes;
};

// --hf, --dtype, --max-shard, --base, --tokenizer.
void add_folder_options(const Verb& verb, FolderRequest& request);

// "~/" is the user's home in all of them.
std::filesystem::path folder_of(const FolderRequest& request);
checkpoint::huggingface::ExportOptions options_of(const FolderRequest& request);

// What was written, as text or JSON; the exit code.
int print_folder(const Context& context, const std::filesystem::path& from,
                 const FolderRequest& request, const checkpoint::huggingface::Exported& done);

}  // namespace trainward::ctl
