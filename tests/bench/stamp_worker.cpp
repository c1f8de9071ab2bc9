// The smallest worker: notes when its main() began, then waits for its end.

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (argc != 2) return 2;
  const int file = ::open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  char line[64];
  const int size = std::snprintf(line, sizeof(line), "%d %lld\n", static_cast<int>(::getpid()),
                                 static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
  if (file < 0 || ::write(file, line, static_cast<size_t>(size)) != size) return 1;
  ::close(file);
  for (;;) ::pause();
}
