// Texts of the configuration with {names} in them, filled in when an attempt starts.
//
// `{name}` stands for a value, `{name:+words}` for these words when there is a value and for
// nothing when it is empty, as in a shell; `{{` for a brace; `}` alone is itself. A template is
// checked once, when the configuration is read, so that filling it in cannot fail. The result is an
// argument or a variable as it is: no shell ever reads it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/decide/core/plan.hpp"

namespace trainward::foreign {

using Values = std::map<std::string, std::string, std::less<>>;

// What `command` and `environment` may name, and what `reset_command` may. `probe_command` is about
// the whole host and names nothing.
std::span<const std::string_view> launch_names();
std::span<const std::string_view> reset_names();

class Template {
 public:
  Template() = default;
  // Kind usage: an unknown name (with the nearest valid one) or an invalid brace.
  static Result<Template> parse(std::string text, std::span<const std::string_view> names);

  struct Filled {
    std::string text;
    bool empty_value = false;  // a {name} in it was empty
    bool left_out = false;     // it was nothing but {name:+words}, and they are not to be said
  };
  [[nodiscard]] Filled fill(const Values& values) const;  // a missing value counts as empty

  [[nodiscard]] bool names(std::string_view name) const;  // has {name} or {name:+…} in it
  [[nodiscard]] const std::string& text() const { return text_; }  // as written
  friend bool operator==(const Template&, const Template&) = default;

 private:
  struct Piece {
    std::string text;
    bool is_name = false;
    std::optional<std::string> words = {};  // said instead of the value, where there is one
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  std::string text_;
  std::vector<Piece> pieces_;
};

// One argument; or, when `together`, several that are left out as a whole when a value in one of
// them is empty: `[--resume, "{checkpoint}"]` is nothing at a first start. So is the single
// argument
// `{checkpoint:+--init_from=resume}`.
struct Argument {
  std::vector<Template> words;
  bool together = false;
  friend bool operator==(const Argument&, const Argument&) = default;
};
using Command = std::vector<Argument>;

std::vector<std::string> fill(const Command& command, const Values& values);

// What an attempt is told.
struct LaunchFacts {
  std::string checkpoint;  // empty: from the beginning
  std::int64_t resume_step = 0;
  std::int64_t attempt = 0;
  std::string devices;  // as in TT_VISIBLE_DEVICES; empty without a board
  std::string serials;  // of the same boards
  std::string checkpoint_dir;
  core::Plan plan;
  core::Plan configured;  // stands in for what `plan` leaves as configured
};
Values values_of(const LaunchFacts& facts);

}  // namespace trainward::foreign
