// A worker that trains on nothing: makes steps as fast as its supervisor takes what it tells of
// them.
//
//   step-worker COUNTER PACE [EVALUATE_EVERY]
//
// PACE: a file with how long a step takes, in microseconds; read again each step, so that one run
// is watched at several speeds; a negative number rests. COUNTER: a file that holds the newest step
// as eight bytes. Every EVALUATE_EVERY steps it tells of an evaluation, which is an event.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Eight bytes of a file, shared with whoever measures.
volatile std::int64_t* shared_number(const char* file) {
  const int fd = ::open(file, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(std::int64_t)) != 0) return nullptr;
  void* memory = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<volatile std::int64_t*>(memory);
}

int connected() {
  const char* path = std::getenv("TRAINWARD_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof(address.sun_path)) return -1;
  std::memcpy(address.sun_path, path, std::strlen(path) + 1);
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? fd : -1;
}

// Waits while the daemon has not taken the ones before.
bool tell(int socket, const char* text, int size) {
  return ::send(socket, text, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  volatile std::int64_t* counter = shared_number(argv[1]);
  const volatile std::int64_t* pace = shared_number(argv[2]);
  const long evaluate_every = argc > 3 ? std::atol(argv[3]) : 0;
  const int socket = connected();
  if (counter == nullptr || pace == nullptr || socket < 0) return 1;
  std::array<char, 160> text{};
  tell(socket, "PHASE=train", 11);
  for (std::int64_t step = 1;; ++step) {
    while (*pace < 0) ::poll(nullptr, 0, 5);
    if (*pace > 0) ::usleep(static_cast<useconds_t>(*pace));
    const int size = std::snprintf(
        text.data(), text.size(),
        "STEP=%lld\nLOSS=%.4f\nGRAD_NORM=1.0\nTOKENS=%lld\nTOKENS_PER_SECOND=4000",
        static_cast<long long>(step), 2.5 + 1e-6 * static_cast<double>(step % 100'000),
        static_cast<long long>(step * 4096));
    if (!tell(socket, text.data(), size)) return 1;
    if (evaluate_every > 0 && step % evaluate_every == 0) {
      const int held_out =
          std::snprintf(text.data(), text.size(), "EVALUATED_STEP=%lld\nEVALUATION_LOSS=2.6",
                        static_cast<long long>(step));
      if (!tell(socket, text.data(), held_out)) return 1;
    }
    *counter = step;
  }
}
