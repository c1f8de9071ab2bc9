// Error counters of links are judged by how much they grew, since a card may have counted for
// months.
//
// In: what the counters of a chip's channel read now. Out: the growth since the first look of this
// boot of the host. A counter that went back was reset with its board: it starts again from there,
// and so does every counter of a chip that was not seen in this boot.
// In memory this is a value without I/O; load() and save() keep it in a JSON file that survives a
// crash whole. Errors: load() never fails for what the file holds (a damaged file is a fresh start,
// and says so in `note`), save() when the file cannot be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::hwprobe {

struct LinkCounters {
  std::optional<std::uint64_t> retrains;
  std::optional<std::uint64_t> crc_errors;
  std::optional<std::uint64_t> uncorrected;

  friend bool operator==(const LinkCounters&, const LinkCounters&) = default;
};

// How much each grew; 0 for what could not be read.
struct LinkGrowth {
  std::int64_t retrains = 0;
  std::int64_t crc_errors = 0;
  std::int64_t uncorrected = 0;

  friend bool operator==(const LinkGrowth&, const LinkGrowth&) = default;
};

class Baselines {
 public:
  explicit Baselines(std::string boot_id) : boot_id_(std::move(boot_id)) {}

  // What the file keeps of this boot; nothing of any other.
  static Baselines load(const std::filesystem::path& file, std::string boot_id);
  // The same of a file's text; empty: there was no file.
  static Baselines from_text(std::string_view text, std::string boot_id);
  [[nodiscard]] Status save(const std::filesystem::path& file) const;

  LinkGrowth growth(const std::string& chip, unsigned channel, const LinkCounters& now);

  // Why the file was not used; empty if it was used or did not exist.
  [[nodiscard]] const std::string& note() const { return note_; }
  // Something is there to be saved that the file does not have.
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  Status read(const Result<json::value>& value, const std::string& where);
  void take(const Result<json::value>& value, const std::string& where);

  std::string boot_id_;
  std::map<std::pair<std::string, unsigned>, LinkCounters> first_;
  std::string note_;
  bool changed_ = false;
};

}  // namespace trainward::hwprobe
