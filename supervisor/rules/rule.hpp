// One crash rule, and the words its fields may hold.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::rules {

// May the same work succeed when simply tried again?
enum class Transient { yes, maybe, no };

std::string_view to_string(Transient transient);

// What a line of a rule is worth, strongest first.
enum class Strength {
  cause,    // names why it failed
  symptom,  // shows a failure and suggests its kind: the type of an exception, a killed process
  cascade,  // what others see of a failure that lies elsewhere: a closed connection, a summary
  hint,     // says nothing by itself; names the kind when something else shows that it failed
};

std::string_view to_string(Strength strength);

// What a rule's lines mean.
enum class Kind {
  benign,    // looks bad and means nothing: the line is taken away
  mask,      // words that mean nothing: the rest of the line is searched for faults without them
  fault,     // a class of crash
  finished,  // the work was done: what stood before it was overcome
  progress,  // training goes on; some of them and what stood before was overcome
  advice,    // the line itself says that the program goes on: a fault it names is only a hint
};

// What of a line the pattern is searched in.
enum class Scope {
  line,       // anywhere
  exception,  // only a line "SomeError: text", from the name on, whatever prefix stands before it
  message,    // only a line that is no such line
};

struct Rule {
  std::string id;  // [a-z0-9-]{1,64}
  std::string crash_class;
  std::vector<std::string> match;  // RE2 syntax; one of them is enough
  Kind kind = Kind::fault;
  Scope scope = Scope::line;
  Strength strength = Strength::cause;
  Transient transient = Transient::maybe;
  std::string remedy = "retry";
  std::string advice;
  bool enabled = true;
};

// benign disk firmware device_busy ethernet device_lost hang cache_corrupt device_oom host_oom
// config network data nan unknown
std::span<const std::string_view> crash_classes();

// What `class:` may say in a rules file: the above, and finished progress advice mask.
std::span<const std::string_view> line_classes();
Kind kind_of(std::string_view line_class);

// none              nothing to do (benign lines)
// retry             start again, from the newest checkpoint
// back_off          wait longer and longer between attempts
// reset_board       reset the board, look at it again, then start again
// power_cycle       only taking the power away helps
// purge_cache       delete the cache of compiled kernels
// recompile         do not use stored programs on this platform
// shrink_plan       less memory per step: recompute, accumulate, smaller block
// free_space        delete old checkpoints and caches
// release_device    wait for, or end, the process that holds the device
// older_checkpoint  go back further than the newest checkpoint
// fetch_again       get the data anew
// fix_program       the program must change
// operator          a person must change the set-up
// replace_host      this host will not do it again; another may
std::span<const std::string_view> remedies();

}  // namespace trainward::rules
