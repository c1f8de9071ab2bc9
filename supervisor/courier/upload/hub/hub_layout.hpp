// What a repository holds of a program's checkpoints, and what a commit has to change. Pure.
//
//   checkpoints/step-00001234/…     the files, as they lay. An exported model's (form "folder") lie
//                                   at the root, where from_pretrained() looks for them, and so
//                                   does a file for torch.load (form "pytorch")
//   checkpoints/step-00001234.json  the record: as publication.hpp has it, with what is said below
//   latest.json                     the newest's name, step, folder and record
//   README.md
//
// A branch shows the newest checkpoint, and beside it the one that a commit was about where that is
// an older one (a milestone that was sent late). What else was there is in the history, by tags.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/hub/hub_answers.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload::hub {

inline constexpr std::string_view latest_name = "latest.json";
inline constexpr std::size_t longest_record = 4U << 20U;

struct Record {
  Remote remote;
  std::string program;
  std::string folder;  // where the files lie, without '/' at its end; empty: the root
  std::string tag;     // of a milestone; empty: none
};

std::string record_path(std::string_view name);
// The name of the checkpoint that a path records; empty: it is no record's path.
std::string recorded_name(std::string_view path);
std::string file_path(const Record& record, std::string_view file);

std::string record_text(const Record& record);
// As publication.hpp's parse_manifest(); also refused: a folder that leaves the repository.
Result<Record> parse_record(std::string_view text, std::string_view where);
std::string latest_text(const Record& record);

using Files = std::map<std::string, Entry>;  // by path

// What a commit is about.
struct Change {
  Record record;
  bool is_newest = true;
  std::vector<std::string> deleted;  // files of checkpoints that make way, and their records
  std::vector<Record> leaving;       // whose they are
};
// `records`: of all checkpoints that the branch shows. The card of an exported model is not one of
// its files: card.hpp.
Change change_for(const Package& package, const Files& files, const std::vector<Record>& records);

// A name that git takes for a tag: what it does not take is '-'; empty only if `text` is.
std::string tag_name(std::string_view text);
// Of a checkpoint whose tag is taken by another one.
std::string tag_for_other_content(const Record& record);

}  // namespace trainward::upload::hub
