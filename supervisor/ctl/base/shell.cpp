#include "supervisor/ctl/base/shell.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <istream>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "supervisor/ctl/base/line_editor.hpp"

namespace trainward::ctl {
namespace {

constexpr const char* prompt = "trainward> ";

bool is_end(const Names& words) { return words.front() == "exit" || words.front() == "quit"; }

// Not asked of a script.
bool needs_a_yes(const Names& words) {
  return words.front() == "shutdown" || words.front() == "reload";
}

void say_wrong(Terminal& terminal, const Error& error) {
  terminal.err << "trainwardctl: " << clean(error.message()) << '\n';
  terminal.err.flush();
}

int from_input(const Shell& shell, Terminal& terminal) {
  int exit_code = exit_status::ok;
  for (std::string line; std::getline(*terminal.in, line);) {
    const auto words = words_of_line(line);
    if (!words) {
      say_wrong(terminal, words.error());
      exit_code = exit_status::usage;
      continue;
    }
    if (words->empty()) continue;
    if (is_end(*words)) break;
    terminal.now = now();
    if (const int code = shell.run(*words); code != exit_status::ok) exit_code = code;
    terminal.out.flush();
  }
  return exit_code;
}

// Ctrl-C ends a command, never the shell: the terminal makes a signal of it while a command runs,
// and between two of them until the editor has taken over.
class DeafToCtrlC {
 public:
  DeafToCtrlC() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignored, &before_);
  }
  ~DeafToCtrlC() { end(); }
  DeafToCtrlC(const DeafToCtrlC&) = delete;
  DeafToCtrlC& operator=(const DeafToCtrlC&) = delete;
  void end() const { ::sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

void run_in_child(const Shell& shell, const Names& words, Terminal& terminal,
                  const DeafToCtrlC& deaf) {
  terminal.out.flush();
  terminal.err.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    deaf.end();
    const int code = shell.run(words);
    terminal.out.flush();
    terminal.err.flush();
    ::_exit(code);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) say_wrong(terminal, fail_errno(errno, "start a process for the command").value());
  if (WIFSIGNALED(status)) terminal.out << '\n';
}

int at_terminal(const Shell& shell, Terminal& terminal) {
  LineEditor editor(STDIN_FILENO, STDOUT_FILENO, [&](const std::string& typed) {
    auto words = words_of_line(typed);
    if (!words) return Names();
    const bool begun = !typed.empty() && typed.back() != ' ';
    if (begun && !words->empty()) words->pop_back();
    return shell.words_at(*words);
  });
  const DeafToCtrlC deaf;
  run_in_child(shell, {"status"}, terminal, deaf);
  for (;;) {
    terminal.out.flush();
    const auto line = editor.read(prompt);
    if (!line) break;
    editor.remember(*line);
    const auto words = words_of_line(*line);
    if (!words) {
      say_wrong(terminal, words.error());
      continue;
    }
    if (words->empty()) continue;
    if (is_end(*words)) break;
    if (needs_a_yes(*words)) {
      const auto yes = editor.read("Really " + words->front() + " trainwardd? y/N ");
      if (!yes || (!yes->starts_with("y") && !yes->starts_with("Y"))) continue;
    }
    terminal.now = now();
    run_in_child(shell, *words, terminal, deaf);
  }
  return exit_status::ok;
}

}  // namespace

Result<Names> words_of_line(const std::string& line) {
  Names words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
      continue;
    }
    if (c == '#' && !begun) break;
    if (c == ' ' || c == '\t' || c == '\r') {
      if (begun) words.push_back(std::exchange(word, {}));
      begun = false;
      continue;
    }
    begun = true;
    if (c == '\'' || c == '"') {
      quote = c;
    } else {
      word += c;
    }
  }
  if (quote != 0) return fail(ErrorKind::usage, "a quote does not end", line);
  if (begun) words.push_back(std::move(word));
  return words;
}

int run_shell(const Shell& shell, Terminal& terminal) {
  return terminal.in_is_terminal ? at_terminal(shell, terminal) : from_input(shell, terminal);
}

}  // namespace trainward::ctl
