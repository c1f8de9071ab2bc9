// How long what happens has to wait for the daemon while a program's files change faster than
// anybody can look: 60,000 checkpoint files at once, a million lines of output a minute, a folder
// that changes all the time. The figures are the daemon's own (GET /v1/version).
//
//   watch_bench FOLDER_OF_PROGRAMS [SCRATCH_FOLDER]
//
// Prints a table; nothing passes or fails here.

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr int lines_a_second = 1'000'000 / 60;
constexpr int output_seconds = 20;

// The program whose output is watched: this one again.
int print_lines() {
  for (int turn = 0, step = 0; turn < output_seconds * 100; ++turn) {
    std::string text;
    for (int i = 0; i < lines_a_second / 100; ++i) {
      text +=
          "step " + std::to_string(++step) + "/900000 | loss 2.7183 | 512 tokens | 8123 tok/s\n";
    }
    (void)!::write(STDOUT_FILENO, text.data(), text.size());
    ::poll(nullptr, 0, 10);
  }
  return 0;
}

class Bench {
 public:
  Bench(fs::path programs, fs::path scratch)
      : programs_(std::move(programs)), scratch_(std::move(scratch)) {}

  void run(const char* title, const std::string& command, const std::string& watch,
           const std::function<void(const fs::path&)>& load) {
    const fs::path folder = scratch_ / "world";
    fs::remove_all(folder);
    fs::create_directories(folder / "cks");
    std::ofstream(folder / "run.yaml")
        << "programs:\n  run:\n    command: " << command << "\n    watch: " << watch << "\n";
    const pid_t daemon = spawn(folder, {(programs_ / "trainwardd").string(), "run.yaml"});
    while (ask(folder, "status").find("RUNNING") == std::string::npos) ::poll(nullptr, 0, 20);
    const long ticks = processor_ticks(daemon);
    const auto begin = Clock::now();
    load(folder);
    ::poll(nullptr, 0, 3'000);  // what settles a second later is part of it
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    const double share = static_cast<double>(processor_ticks(daemon) - ticks) /
                         static_cast<double>(::sysconf(_SC_CLK_TCK)) / took;
    std::string answer = ask(folder, "version");
    const auto at = answer.find("latency_ms");
    answer = at == std::string::npos ? answer : answer.substr(at);
    std::erase_if(answer, [](char c) { return c == '\n' || c == ' '; });
    std::printf("%-44s %5.1f s  %3.0f %% of a processor  %s\n", title, took, share * 100,
                answer.c_str());
    std::fflush(stdout);
    ask(folder, "shutdown");
    ::kill(daemon, SIGTERM);
    ::waitpid(daemon, nullptr, 0);
    fs::remove_all(folder);
  }

 private:
  static pid_t spawn(const fs::path& folder, const std::vector<std::string>& argv) {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    const int log = ::open((folder / "daemon.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    if (::chdir(folder.c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(127);
  }
  std::string ask(const fs::path& folder, const std::string& what) const {
    const std::string command = (programs_ / "trainwardctl").string() + " --json --state-dir " +
                                (folder / ".trainward").string() + " " + what + " 2>/dev/null";
    std::string out;
    FILE* pipe = ::popen(command.c_str(), "r");
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    ::pclose(pipe);
    return out;
  }
  // utime and stime: the 14th and 15th field.
  static long processor_ticks(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream rest(text.substr(text.rfind(')') + 2));
    std::string word;
    for (int i = 0; i < 11; ++i) rest >> word;
    long user = 0;
    long system = 0;
    rest >> user >> system;
    return user + system;
  }

  fs::path programs_;
  fs::path scratch_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) == "--lines") return print_lines();
  if (count < 2) {
    std::fprintf(stderr, "usage: watch_bench FOLDER_OF_PROGRAMS [SCRATCH_FOLDER]\n");
    return 2;
  }
  const fs::path scratch = fs::path(count > 2 ? arguments[2] : "/dev/shm") /
                           ("watch-bench-" + std::to_string(::getpid()));
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  Bench bench(fs::absolute(arguments[1]), scratch);
  const std::string sleeper = "[sleep, '1000']";
  const std::string checkpoints = "{checkpoints: ['cks/step*.pt']}";
  bench.run("nothing, 5 s", sleeper, checkpoints, [](const fs::path&) { ::sleep(5); });
  for (const int files : {2'000, 60'000}) {
    bench.run((std::to_string(files) + " checkpoint files").c_str(), sleeper, checkpoints,
              [&](const fs::path& folder) {
                std::ofstream(folder / "old") << "\x80\x02x";
                for (int i = 1; i <= files; ++i) {
                  fs::create_hard_link(folder / "old",
                                       folder / "cks" / ("step" + std::to_string(i) + ".pt"));
                }
              });
  }
  bench.run("a file made and removed all the time, 10 s", sleeper, checkpoints,
            [](const fs::path& folder) {
              const auto end = Clock::now() + seconds(10);
              while (Clock::now() < end) {
                std::ofstream(folder / "cks/step1.pt") << "x";
                fs::remove(folder / "cks/step1.pt");
              }
            });
  bench.run(
      "a million lines a minute, each a step, 20 s", "[" + self + ", --lines]",
      "{log: [{match: 'step (?P<step>\\d+).*loss (?P<loss>[0-9.]+).* (?P<tokens>\\d+) tokens', "
      "phase: train}]}",
      [](const fs::path&) { ::sleep(output_seconds); });
  // What a program may do at once: its output recognised, a status file that is a pipe and then
  // never ends, a thousand checkpoints that were there before and a thousand that come.
  bench.run("all at once, recognised, 20 s", "[" + self + ", --lines]",
            "{preset: auto, status_file: status.json, checkpoints: ['cks/step*.pt']}",
            [](const fs::path& folder) {
              ::mkfifo((folder / "status.json").c_str(), 0600);
              std::ofstream(folder / "old") << "\x80\x02x";
              for (int i = 1; i <= 2'000; ++i) {
                fs::create_hard_link(folder / "old",
                                     folder / "cks" / ("step" + std::to_string(i) + ".pt"));
                if (i != 1'000) continue;
                ::sleep(output_seconds / 2);
                fs::remove(folder / "status.json");
                fs::create_symlink("/dev/zero", folder / "status.json");
              }
              ::sleep(output_seconds / 2);
            });
  fs::remove_all(scratch);
  return 0;
}
