#include "supervisor/ctl/client/ssh_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/base/version.hpp"
#include "supervisor/ctl/client/hello.hpp"

namespace trainward::ctl::remote {
namespace {

constexpr std::chrono::seconds between_tries{5};

// Reads what is there into `bytes`; false at the end.
bool read_some(int fd, std::string& bytes) {
  std::array<char, 4096> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(fd, piece.data(), piece.size());
  if (got > 0) bytes.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

Connection::Connection(Address address, bool may_ask)
    : address_(std::move(address)),
      may_ask_(may_ask),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {}

Connection::~Connection() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

tl::expected<void, ClientError> Connection::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (state_ == State::failed && Clock::now() - failed_at_ >= between_tries) {
    state_ = State::connecting;
    changed_.notify_all();
  }
  changed_.wait_for(lock, patience, [this] { return state_ != State::connecting; });
  if (state_ == State::ready) return {};
  if (state_ == State::failed) return tl::unexpected<ClientError>(*failure_);
  return tl::unexpected<ClientError>(not_in_time(address_, patience));
}

Reply<Line> Connection::open(std::chrono::milliseconds patience) {
  if (auto ready = wait(patience); !ready) return tl::unexpected<ClientError>(ready.error());
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return tl::unexpected<ClientError>(
        {Trouble::silent, fail_errno(errno, "make a connection", address_.text()).value(), 0});
  }
  Line line{Fd(ends[0]), std::make_shared<std::atomic<int>>(0)};
  {
    const std::lock_guard lock(mutex_);
    asked_for_.push_back({Fd(ends[1]), line.refusal});
  }
  ::eventfd_write(wake_.get(), 1);
  return line;
}

std::optional<ClientError> Connection::why_broken(const Line& line) {
  const std::lock_guard lock(mutex_);
  if (const int error = *line.refusal; error != 0) return no_daemon(address_, socket_, error);
  return state_ == State::failed ? failure_ : std::nullopt;
}

bool Connection::stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Connection::become(State state, std::optional<ClientError> failure) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
    failure_ = std::move(failure);
    failed_at_ = Clock::now();
    // Who waits for an answer over these finds them closed, and the reason above.
    if (state == State::failed) asked_for_.clear();
  }
  changed_.notify_all();
}

void Connection::work() {
  for (bool first = true;; first = false) {
    connect_and_serve(first && may_ask_);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || state_ == State::connecting; });
    if (stopped_) return;
  }
}

void Connection::connect_and_serve(bool may_ask) {
  SshProcess ssh = SshProcess::start(address_, may_ask);
  if (ssh.fd() < 0) return become(State::failed, ended(address_, ssh.end()));
  Relay relay(ssh.fd(), ssh.fd());
  auto failure = greet(ssh, relay);
  if (!failure && !stopped()) {
    become(State::ready);
    if (!serve(ssh, relay)) return;
    Ending ending = ssh.end();
    ending.greeted = true;
    failure = ended(address_, ending);
  }
  // The relay closes its channels only now, when there is a reason to be found.
  become(State::failed, std::move(failure));
}

// False when this connection is to end.
bool Connection::wait_for_input(SshProcess& ssh) {
  while (!stopped()) {
    std::array<pollfd, 3> polled{
        {{ssh.fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}, {ssh.errors_fd(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return false;
    ssh.read_errors();
    if (polled[0].revents != 0) return true;
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
  }
  return false;
}

std::optional<ClientError> Connection::greet(SshProcess& ssh, Relay& relay) {
  std::string line = hello_line({protocol_spoken, std::string(version_text), address_.place});
  if (!write_some(ssh.fd(), line)) return ended(address_, ssh.end());
  ::fcntl(ssh.fd(), F_SETFL, ::fcntl(ssh.fd(), F_GETFL) | O_NONBLOCK);
  std::string bytes;
  for (;;) {
    if (!wait_for_input(ssh)) return std::nullopt;
    if (!read_some(ssh.fd(), bytes)) return ended(address_, ssh.end());
    auto hello = take_hello(bytes);
    if (!hello) {
      return ClientError{Trouble::garbled, std::move(hello.error()), 0};
    }
    if (!*hello) continue;
    if ((*hello)->protocol != protocol_spoken) {
      return other_version(address_, (*hello)->protocol, (*hello)->version);
    }
    relay.add_input(bytes);
    const std::lock_guard lock(mutex_);
    socket_ = (*hello)->place;
    return std::nullopt;
  }
}

bool Connection::serve(SshProcess& ssh, Relay& relay) {
  for (;;) {
    std::vector<Line> lines;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return false;
      lines = std::exchange(asked_for_, {});
    }
    for (Line& line : lines) relay.open(std::move(line.fd), std::move(line.refusal));
    const auto goes_on = relay.turn({wake_.get(), ssh.errors_fd()});
    if (!goes_on || !*goes_on) return true;
    ssh.read_errors();
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
  }
}

}  // namespace trainward::ctl::remote
