// What a command's file needs to put itself on the command line. A command is one file in
// commands/: what it is asked (a struct that its options fill in), the call, the text, and
//
//   void add_NAME(Cli& cli);
//
// which the list in CMakeLists.txt names. CLI11, which parses, takes seconds to compile and is only
// known to cli.cpp and arguments.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "supervisor/ctl/base/context.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace trainward::ctl {

// What an option or a positional may be; every method returns the option itself.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}
  Option& required();
  Option& positive();
  Option& not_negative();
  Option& one_of(const std::vector<std::string>& words);
  Option& one_of_any_case(const std::vector<std::string>& words);  // the value is as in `words`
  Option& size();                                                  // "4GB", "512MiB"
  Option& one_value_each();  // of a list: the option is repeated, and takes no positional
  Option& excludes(const std::string& other);
  Option& needs(const std::string& other);
  template <typename Number>
  Option& range(Number least, Number most) {
    if constexpr (std::is_floating_point_v<Number>)
      return range_of_numbers(least, most);
    else
      return range_of_integers(least, most);
  }

 private:
  Option& range_of_numbers(double least, double most);
  Option& range_of_integers(std::int64_t least, std::int64_t most);

  CLI::Option& option_;
};

// A word that does something.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(app) {}
  // `name`: "--keep", "-n,--lines", or "NAME" for a positional. cli.cpp lists the types there are.
  template <typename Value>
  Option option(const std::string& name, Value& value, const std::string& help = "") const;
  // `read` takes the text and says what is wrong with it, or nothing.
  Option option_read_by(const std::string& name,
                        std::function<std::string(const std::string&)> read,
                        const std::string& help) const;
  Option flag(const std::string& name, bool& value, const std::string& help) const;

 private:
  friend class Cli;
  CLI::App& app_;
};

// Collects what the parsed command line asks for. Must outlive parse and action. One thread.
class Cli {
 public:
  using Action = std::function<int(const Context&)>;  // prints, and returns the exit code
  using Check = std::function<std::string()>;         // after the parse: what is wrong, or nothing

  explicit Cli(CLI::App& app) : app_(app) {}
  Cli(const Cli&) = delete;
  Cli& operator=(const Cli&) = delete;
  ~Cli() = default;

  Settings settings;  // of the options that every command has

  // A word that only goes before others.
  void group(const std::string& word, const std::string& help);
  // `words`: "status", or "ckpt list" in a group that is there.
  Verb verb(const std::string& words, const std::string& help);

  // A value for options to fill in, which lives as long as this object.
  template <typename Request>
  Request& keep() {
    auto request = std::make_shared<Request>();
    kept_.push_back(request);
    return *request;
  }

  // What happens when `verb` is asked for.
  void on(const Verb& verb, Action command, Check check = {});
  template <typename Request>
  void on(const Verb& verb, const Request& request, int (*command)(const Context&, const Request&),
          Check check = {}) {
    on(
        verb, [&request, command](const Context& context) { return command(context, request); },
        std::move(check));
  }

  // Of the verb that was asked for; empty before the parse.
  [[nodiscard]] const Action& action() const { return action_; }

 private:
  CLI::App& app_;
  std::vector<std::shared_ptr<void>> kept_;
  Action action_;
};

// Every command, in the order of --help.
void add_commands(Cli& cli);

}  // namespace trainward::ctl
