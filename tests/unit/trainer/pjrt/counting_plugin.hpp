// What a test tells the counting plugin, and what that has counted.
//
// The counting plugin is a shared library that speaks PJRT and computes next to nothing: the text
// of a program is a list of words, "copies=2 donates=0": output k is a copy of argument k, and
// argument 0 is taken over. It counts every object that is alive, checks what it is given as
// strictly as any plugin does, and can fail any call.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace trainward::pjrt::test {

struct Live {
  int errors = 0;
  int events = 0;
  int clients = 0;
  int buffers = 0;
  int executables = 0;  // unloaded ones, too
  int loaded = 0;
  int serialized = 0;
  int topologies = 0;

  friend bool operator==(const Live&, const Live&) = default;
};

struct Control {
  // Read when the plugin is opened.
  int major = 0;
  int minor = 114;
  std::size_t table_size = 0;     // of the table it shows; 0: all of it
  std::set<std::string> missing;  // calls that are null
  bool without_table = false;

  // The n-th call from now on, of all or of one, fails; 0: none does.
  int fail_at = 0;
  std::string fail_call;
  int fail_code = 13;
  std::string fail_text = "told to fail";

  std::size_t newer_by = 0;  // bytes by which its structs are larger than ours
  bool null_result = false;  // a program's last output is missing
  bool loads = true;         // has Executable_DeserializeAndLoad
  bool refuses_load = false;
  bool serializes = true;
  std::string version = "1.2.3";
  int devices = 2;
  std::function<void()> while_compiling;

  // Counted.
  Live live;
  std::map<std::string, int> calls;
  int all_calls = 0;
  int shutdowns = 0;
  int clients_at_shutdown = 0;
  std::map<std::string, std::string> options;  // of the last client
  std::string compile_options;                 // of the last program
  std::vector<std::string> complaints;         // about what it was given
};

// The plugin's export: its one Control.
using ControlFunction = Control* (*)();

}  // namespace trainward::pjrt::test
