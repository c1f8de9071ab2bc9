// What a worker leaves in memory reaches the next attempt, and nobody else.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "common/os/processes/process_files.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "common/protocol/protocol.hpp"
#include "common/wire/kept_state.hpp"
#include "shim_fixture.hpp"

namespace trainward {
namespace {

// The descriptor's number is all that a shell needs.
constexpr const char* leaves = R"(echo "$0" > /proc/self/fd/${TRAINWARD_MEMORY%,*}; )";
constexpr const char* looks = R"(cat /proc/self/fd/${TRAINWARD_MEMORY%,*}; exit 75)";

class ShimMemory : public Shim {
 protected:
  ShimMemory() {
    spec_.memory = LaunchSpec::Memory::take;
    make_folder();
  }
  void make_folder() const {
    std::filesystem::remove_all(program() / "attempts");
    std::filesystem::create_directories(program() / "attempts" / "0001");
  }

  [[nodiscard]] std::filesystem::path program() const { return folder_.path() / "run"; }
  [[nodiscard]] std::filesystem::path folder() const override {
    return program() / "attempts" / "0001";
  }
  [[nodiscard]] std::filesystem::path socket() const {
    return program() / attempt_files::kept_state;
  }
  [[nodiscard]] bool kept() const {
    return look_at_place(socket()).value_or(SocketPlace::free) == SocketPlace::held;
  }
  void attempt(const std::string& script, const std::string& word = "state") {
    make_folder();
    start({"/bin/sh", "-c", script, word});
    wait();
  }
  static std::string text_of(const Fd& fd) {
    std::string text(100, '\0');
    const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  // Waits for the keeper to have gone: its socket is removed last.
  void until_nobody_keeps() const {
    until([this] { return !std::filesystem::exists(socket()); });
  }
};

TEST_F(ShimMemory, AKilledWorkersStateIsTakenOnce) {
  attempt(std::string(leaves) + "kill -9 $$");
  ASSERT_TRUE(kept());
  auto state = take_kept_state(program());
  ASSERT_TRUE(state) << state.error().message();
  EXPECT_EQ(text_of((*state)[0]), "state\n");
  EXPECT_TRUE(is_state_of((*state)[0].get(), ::geteuid()));
  EXPECT_FALSE(is_state_of((*state)[0].get(), ::geteuid() + 1));
  struct stat info {};
  ASSERT_EQ(::fstat((*state)[0].get(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  until_nobody_keeps();
  const auto again = take_kept_state(program());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::permanent);
}

TEST_F(ShimMemory, TheNextAttemptTakesItAndKeepsItOn) {
  attempt(std::string(leaves) + "exit 1");
  attempt("exit 3");  // never touched it
  attempt("kill -9 $$");
  attempt(looks);
  EXPECT_EQ(log(attempt_files::standard_output), "state\n");
  EXPECT_FALSE(std::filesystem::exists(socket())) << "it ended in order, so nothing is kept";
}

TEST_F(ShimMemory, WhoCannotBeStartedLeavesItToTheNext) {
  attempt(std::string(leaves) + "exit 1");
  make_folder();
  start({"/nowhere/at/all"});
  wait();
  EXPECT_EQ(await("exec_failed").type, "exec_failed");
  attempt(looks);
  EXPECT_EQ(log(attempt_files::standard_output), "state\n");
}

TEST_F(ShimMemory, AFreshStartTakesNothingAndLeavesNothing) {
  attempt(std::string(leaves) + "exit 1");
  spec_.memory = LaunchSpec::Memory::fresh;
  attempt(looks);
  EXPECT_EQ(log(attempt_files::standard_output), "");
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(ShimMemory, WhoHasEndedInOrderLeavesNothing) {
  for (const char* end : {"exit 0", "exit 75"}) {
    attempt(std::string(leaves) + end);
    EXPECT_FALSE(std::filesystem::exists(socket())) << end;
  }
  attempt("kill -9 $$");  // nor who has left nothing
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(ShimMemory, AProgramThatIsNotOursHasNone) {
  spec_.memory = LaunchSpec::Memory::none;
  attempt("echo \"[$TRAINWARD_MEMORY]\"");
  EXPECT_EQ(log(attempt_files::standard_output), "[]\n");
}

TEST_F(ShimMemory, WithTheShimItIsGone) {
  start({"/bin/sh", "-c", std::string(leaves) + "echo $$; while :; do sleep 1; done", "state"});
  const pid_t worker = printed_pid();
  ::kill(pid_, SIGKILL);
  EXPECT_EQ(wait(), -SIGKILL);
  until([&] { return !lives(worker); });
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(ShimMemory, WhoDiesBeforeItHasAnsweredLeavesItThere) {
  attempt(std::string(leaves) + "exit 1");
  { ASSERT_TRUE(connect_for_packets(socket())); }  // hangs up
  auto state = take_kept_state(program());
  ASSERT_TRUE(state) << state.error().message();
  EXPECT_EQ(text_of((*state)[0]), "state\n");
}

TEST_F(ShimMemory, TheKeeperHoldsNoLeaseAndEndsWithItsSocket) {
  const auto lease = program() / "lease";
  {
    // As the daemon hands it on: without close-on-exec.
    const int fd = ::open(lease.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
    attempt(std::string(leaves) + "exit 1");
    ::close(fd);
  }
  ASSERT_TRUE(kept());
  const Fd again(::open(lease.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::flock(again.get(), LOCK_EX | LOCK_NB), 0);
  const Fd held(connect_for_packets(socket()).value());  // has it, and does not say so
  std::filesystem::remove(socket());
  // The keeper hangs up at its end.
  pollfd hung_up{held.get(), 0, 0};
  until([&] { return ::poll(&hung_up, 1, 0) == 1 && (hung_up.revents & POLLHUP) != 0; });
  EXPECT_FALSE(take_kept_state(program()));
}

}  // namespace
}  // namespace trainward
