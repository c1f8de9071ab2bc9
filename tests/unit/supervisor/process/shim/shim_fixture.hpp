// The real shim with real workers (small shell scripts), watched through its files only.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "common/os/file.hpp"
#include "common/os/processes/process_id.hpp"
#include "common/wire/journal.hpp"
#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"
#include "temporary_folder.hpp"

namespace trainward {

class Shim : public ::testing::Test {
 protected:
  void start(std::vector<std::string> argv) {
    spec_.run = "test";
    spec_.attempt = 1;
    // The cgroup is named after it: tests that run side by side must not end each other's workers.
    spec_.nonce = "n" + std::to_string(::getpid());
    spec_.argv = std::move(argv);
    spec_.environment.emplace("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    spec_.directory = folder();
    ASSERT_TRUE(write_file_durably(folder() / attempt_files::launch, to_json_text(spec_), 0600)
                    .has_value());
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl(SHIM, SHIM, folder().c_str(), nullptr);
      ::_exit(127);
    }
  }

  void start_script(const std::string& script) { start({"/bin/sh", "-c", script}); }

  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::vector<JournalRecord> records() {
    auto batch = read_journal(folder() / attempt_files::journal, 0);
    return batch ? std::move(batch->records) : std::vector<JournalRecord>{};
  }

  // Polls the journal's growth; bounded by the test's own time limit.
  JournalRecord await(std::string_view type) {
    for (;;) {
      for (JournalRecord& record : records()) {
        if (record.type == type) return std::move(record);
      }
      ::poll(nullptr, 0, 2);
    }
  }

  std::string log(const char* name) { return read_file(folder() / name, 64 << 20).value_or(""); }

  // Polls for something no descriptor announces; bounded by the test's own time limit.
  static void until(const std::function<bool()>& condition) {
    while (!condition()) ::poll(nullptr, 0, 2);
  }

  // The number on the worker's first line of output.
  pid_t printed_pid() {
    until([this] { return log(attempt_files::standard_output).find('\n') != std::string::npos; });
    return std::stoi(log(attempt_files::standard_output));
  }

  static bool lives(pid_t pid) {
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat", 4096).value_or("");
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
  }

  // Where the attempt lies; a test may move it to another file system.
  [[nodiscard]] virtual std::filesystem::path folder() const { return folder_.path(); }

  TemporaryFolder folder_;
  LaunchSpec spec_;
  pid_t pid_ = 0;
};

}  // namespace trainward
