#include "supervisor/evidence/host/kernel_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string_view>

#include "common/os/file.hpp"
#include "common/os/processes/host_files.hpp"
#include "supervisor/evidence/host/bus_id.hpp"

namespace trainward::host {
namespace {

// The clock of the log's records; it stands still during suspend, unlike clock.hpp's.
std::int64_t log_clock_usec() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
}

}  // namespace

Result<KernelLog> KernelLog::open(const std::filesystem::path& root,
                                  std::optional<std::int64_t> last_ms) {
  const auto file = below(root, "/dev/kmsg");
  auto fd = open_file(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) {
    fd.error().hint = "reading the kernel's log takes root, CAP_SYSLOG or kernel.dmesg_restrict=0";
    return propagate(fd);
  }
  std::int64_t since_usec = 0;
  if (last_ms) {
    const std::int64_t now = log_clock_usec();
    since_usec = now - std::clamp<std::int64_t>(*last_ms, 0, now / 1000) * 1000;
  } else if (::lseek(fd->get(), 0, SEEK_END) < 0 && errno != ESPIPE) {  // a pipe has no past
    return fail_errno(errno, "go to the end of the kernel's log", file.string());
  }
  return KernelLog(std::move(*fd), since_usec);
}

void KernelLog::judge(const KernelRecord& record, KernelNews& news) const {
  if (!from_kernel(record) || record.usec < since_usec_) return;
  auto fact = judge_kernel_line(record.text);
  if (!fact) return;
  for (std::string& id : bus_ids_in(record.device, 1)) {
    if (std::ranges::find(fact->bus_ids, id) == fact->bus_ids.end()) {
      fact->bus_ids.push_back(std::move(id));
    }
  }
  news.facts.push_back(std::move(*fact));
}

KernelNews KernelLog::take() {
  constexpr int most_reads = 256;
  KernelNews news;
  std::array<char, 8192> buffer{};
  for (int i = 0; i < most_reads; ++i) {
    const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EPIPE || errno == EINVAL)) {  // overwritten meanwhile; or too long
      ++news.lost;
      continue;
    }
    if (got <= 0) {  // all is read
      if (const auto last = records_.finish()) judge(*last, news);
      return news;
    }
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    for (const KernelRecord& record : records_.take(piece)) judge(record, news);
  }
  news.more = true;
  return news;
}

}  // namespace trainward::host
