// The entry that is put into our words, while that is under way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/yaml/document.hpp"
#include "supervisor/config/elsewhere/key_names.hpp"
#include "supervisor/config/reading/config_reading.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::config::elsewhere {

// "inf" and its spellings; a norm of which is no limit.
bool is_infinite(const yaml::Node& node);
// false, nothing, "" or an empty list or map.
bool is_empty_or_false(const yaml::Node& node);
yaml::Node plain(std::string text, const yaml::Node& like);

class Entry {
 public:
  Entry(yaml::Node& program, std::string path, const Folders& folders,
        std::vector<yaml::Problem>& problems)
      : program_(program), path_(std::move(path)), folders_(folders), problems_(problems) {}

  // ---- what stands in it ----

  // Under "training_config.steps"; nullptr: not there.
  [[nodiscard]] const yaml::Node* find(std::string_view ours) const;
  // Puts a value under our key. `theirs`: what the file calls it, with its map.
  void put(std::string_view ours, const std::string& theirs, yaml::Mark mark, yaml::Node value);
  // The map is there, if with nothing in it.
  void put_map(std::string_view ours, yaml::Mark mark);
  std::optional<yaml::Member> take(std::string_view ours);

  // What the file calls the value under our key; empty: by our name, or it is not there.
  [[nodiscard]] std::string called(std::string_view ours) const;

  // Reads the members of one of our sections or maps by the table ("" is the entry itself), and
  // leaves in it what is ours or not known. `prefix`: of their names there ("optimizer.").
  void read(std::string_view section, const std::string& prefix);
  // A map that is not ours: all of it must be known.
  void read_inside(const std::string& where, const std::string& prefix, yaml::Node map);

  // ---- what is settled at the end ----

  struct Said {
    std::string where;  // "programs.a.training_config.min_lr"
    yaml::Member member;
  };
  // What was said under a name of the table that waits for the end; it is taken out.
  std::optional<Said> said(std::string_view theirs);
  void keep(std::string_view theirs, Said said) { said_[std::string(theirs)] = std::move(said); }

  void report(const std::string& where, yaml::Mark mark, const std::string& message);
  void note(const std::string& where, yaml::Mark mark, const std::string& message);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Folders& folders() const { return folders_; }

 private:
  void accept(const Name& name, const std::string& where, yaml::Member member);
  void accept_word(const Name& name, const std::string& where, const yaml::Member& member);

  yaml::Node& program_;
  std::string path_;
  const Folders& folders_;
  std::vector<yaml::Problem>& problems_;
  std::map<std::string, std::string, std::less<>> sources_;  // our key to what the file calls it
  std::map<std::string, Said, std::less<>> said_;
};

// What hangs on more than one key; after everything was read.
void settle(Entry& entry);
// What is said of trackers; settle_trackers.cpp.
void settle_trackers(Entry& entry, const orders::Tracking& usual);

}  // namespace trainward::config::elsewhere
