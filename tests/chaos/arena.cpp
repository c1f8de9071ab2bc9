#include "arena.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "damage.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::chaos {
namespace {

constexpr std::int64_t smallest_disk = std::int64_t{64} << 20;
constexpr std::int64_t disk_a_second = std::int64_t{256} << 10;

std::string library() { return std::string(CHAOS_PRELOAD); }

void write_text(const char* file, const std::string& text) {
  const Fd fd(::open(file, O_WRONLY | O_CLOEXEC));
  (void)!::write(fd.get(), text.data(), text.size());
}

// Mounts of this process and its children alone; as another user than root, in a user namespace
// where the machine allows one.
bool own_mounts() {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (user == 0) {
    if (::unshare(CLONE_NEWNS) != 0) return false;
  } else {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    write_text("/proc/self/setgroups", "deny");
    write_text("/proc/self/uid_map", fmt::format("0 {} 1", user));
    write_text("/proc/self/gid_map", fmt::format("0 {} 1", group));
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

std::string program_text(const std::string& name, const std::string& arguments,
                         const std::string& watch, const std::filesystem::path& book) {
  return fmt::format(
      "  {}:\n"
      "    command: [{}/chaos-worker, {}{}]\n"
      "    autorestart: always\n"
      "    watch: {{{}}}\n"
      "    checkpoints: {{every: 20, on_stop: true}}\n"
      "    deadlines: {{start: 10s, load: 10s, train_floor: 3s, save: 10s, stop: 5s}}\n"
      "    backoff: {{first: 20ms, max: 500ms}}\n"
      "    budgets: {{attempts: 1000000, attempts_without_progress: 1000000}}\n"
      "    logs: {{max_size: 1MiB, keep: 1000}}\n",
      name, PROGRAMS, book.string(), arguments, watch);
}

}  // namespace

Result<Arena> Arena::make(std::int64_t seconds) {
  Arena arena;
  std::string pattern =
      (std::filesystem::temp_directory_path() / "trainward-chaos-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return fail_errno(errno, "make a folder", pattern);
  arena.folder_ = pattern;
  for (const auto& made : {arena.folder_ / "disk", arena.book(), arena.folder_ / "files",
                           arena.backup(), arena.victim()}) {
    if (auto ok = make_folders(made); !ok) return propagate(ok);
  }
  if (auto ok = write_file_durably(arena.victim() / "file", victims_text); !ok) {
    return propagate(ok);
  }
  arena.port_ = free_port();
  arena.disk_bytes_ = smallest_disk + seconds * disk_a_second;
  arena.has_disk_ = own_mounts() && ::mount("chaos", (arena.folder_ / "disk").c_str(), "tmpfs", 0,
                                            fmt::format("size={}", arena.disk_bytes_).c_str()) == 0;
  if (auto ok = arena.make_control(); !ok) return propagate(ok);
  if (auto ok = arena.write_configuration(); !ok) return propagate(ok);
  // Whoever loses its parent becomes ours, and nobody is out of sight.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return arena;
}

Status Arena::make_control() {
  if (library().empty()) return {};
  const auto file = folder_ / "control";
  auto fd = open_file(file, O_RDWR | O_CREAT, 0600);
  if (!fd) return propagate(fd);
  if (::ftruncate(fd->get(), sizeof(Control)) != 0) return fail_errno(errno, "size", file.string());
  void* memory = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
  if (memory == MAP_FAILED) return fail_errno(errno, "map", file.string());
  control_ = static_cast<Control*>(memory);
  std::strncpy(control_->folder, (state().string() + "/").c_str(), sizeof control_->folder - 1);
  return {};
}

Status Arena::write_configuration() const {
  std::string text =
      fmt::format("state_dir: {}\nlisten: 127.0.0.1:{}\nprograms:\n", state().string(), port_);
  for (const char* name : programs::always) {
    text += program_text(name, "", "protocol: true", book());
    text += fmt::format("    upload: {{targets: {{nas: {{folder: {}}}}}}}\n", backup().string());
  }
  text += program_text("mortal", ", --life, '60'", "protocol: true", book());
  text += program_text("silent", ", --silent", "checkpoints: ['files/step*.pt']", book());
  return write_file_durably(folder_ / "chaos.yaml", text);
}

std::filesystem::path Arena::attempt(const std::string& program, std::int64_t number) const {
  return run(program) / "attempts" / fmt::format("{:04}", number);
}

std::int64_t Arena::newest_attempt(const std::string& program) const {
  const auto all = containment::attempt_folders(run(program) / "attempts");
  return all.empty() ? 0 : all.back().number;
}

// The disk shrinks to what is on it: full at once, without a byte to be written.
void Arena::fill_disk() const {
  struct statvfs info {};
  const auto disk = folder_ / "disk";
  if (!has_disk_ || ::statvfs(disk.c_str(), &info) != 0) return;
  const auto used = (info.f_blocks - info.f_bfree) * info.f_frsize;
  ::mount("chaos", disk.c_str(), "tmpfs", MS_REMOUNT, fmt::format("size={}", used).c_str());
}

void Arena::free_disk() const {
  if (!has_disk_) return;
  ::mount("chaos", (folder_ / "disk").c_str(), "tmpfs", MS_REMOUNT,
          fmt::format("size={}", disk_bytes_).c_str());
}

pid_t Arena::spawn(const std::string& program, const std::vector<std::string>& arguments,
                   const std::filesystem::path& output) const {
  std::vector<std::string> words{std::string(PROGRAMS) + "/" + program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  auto log = open_file(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
  auto null = open_file("/dev/null", O_RDONLY);
  if (!log || !null) return -1;
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::dup2(null->get(), STDIN_FILENO);
  ::dup2(log->get(), STDOUT_FILENO);
  ::dup2(log->get(), STDERR_FILENO);
  if (control_ != nullptr) {
    ::setenv("LD_PRELOAD", library().c_str(), 1);
    ::setenv(control_variable, (folder_ / "control").c_str(), 1);
  }
  if (::chdir(folder_.c_str()) == 0) ::execv(argv[0], argv.data());
  ::_exit(127);
}

pid_t Arena::start_daemon() const {
  return spawn("trainwardd", {"--log", "stderr", (folder_ / "chaos.yaml").string()}, daemon_log());
}

pid_t Arena::start_command(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words{"--state-dir", state().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return spawn("trainwardctl", words, "/dev/null");
}

void Arena::keep() const {
  if (!has_disk_) return;
  std::error_code error;
  std::filesystem::create_directory(folder_ / "kept", error);
  const std::string command = fmt::format("cp -a '{0}/disk/.' '{0}/kept/'", folder_.string());
  (void)!std::system(command.c_str());
}

void Arena::remove() const {
  std::error_code error;
  if (has_disk_) ::umount2((folder_ / "disk").c_str(), MNT_DETACH);
  std::filesystem::remove_all(folder_, error);
}

}  // namespace trainward::chaos
