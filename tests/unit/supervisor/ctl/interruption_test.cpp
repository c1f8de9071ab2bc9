#include "supervisor/ctl/base/interruption.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "common/os/pipe.hpp"

namespace trainward::ctl {
namespace {

// A process of its own, for a signal's end is the end of a process. It and the test tell each other
// by a byte when something is so.
class Child {
 public:
  using Say = std::function<void()>;
  explicit Child(const std::function<void(const Say&)>& body) : said_(make_pipe().value()) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    body([this] { (void)!::write(said_.write.get(), "x", 1); });
    ::_exit(0);
  }
  void await() const {
    char byte = 0;
    ASSERT_EQ(::read(said_.read.get(), &byte, 1), 1);
  }
  void send(int number) const { ASSERT_EQ(::kill(pid_, number), 0); }
  [[nodiscard]] int end() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return status;
  }

 private:
  Pipe said_;
  pid_t pid_ = 0;
};

// As a file system that has gone away, or a pipe in a file's place: a call that never comes back.
void hang() {
  const auto empty = make_pipe().value();
  char byte = 0;
  (void)!::read(empty.read.get(), &byte, 1);
}

TEST(Interruption, TheFirstSignalIsAskedFor) {
  const Child child([](const Child::Say& say) {
    Interruption interruption;
    say();
    while (interruption.signal() == 0) ::usleep(100);
    ::_exit(interruption.signal() == SIGINT ? 7 : 8);
  });
  child.await();
  child.send(SIGINT);
  const int status = child.end();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST(Interruption, TheSecondEndsTheProcessWhereverItHangs) {
  for (const std::array<int, 2> signals :
       {std::array{SIGINT, SIGINT}, std::array{SIGTERM, SIGINT}, std::array{SIGINT, SIGTERM}}) {
    const Child child([](const Child::Say& say) {
      Interruption interruption;
      say();
      while (interruption.signal() == 0) ::usleep(100);
      say();
      hang();
    });
    child.await();
    child.send(signals[0]);
    child.await();
    child.send(signals[1]);
    const int status = child.end();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signals[1]) << status;
  }
}

TEST(Interruption, AfterwardsASignalDoesWhatItDidBefore) {
  const Child child([](const Child::Say& say) {
    {
      Interruption interruption;
      say();
      while (interruption.signal() == 0) ::usleep(100);
    }
    say();
    hang();
  });
  child.await();
  child.send(SIGTERM);
  child.await();
  child.send(SIGTERM);
  const int status = child.end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

}  // namespace
}  // namespace trainward::ctl
