#include "supervisor/evidence/host/priority_poll.hpp"

#include <sys/epoll.h>

namespace trainward::host {

std::optional<PriorityPoll> PriorityPoll::of(int fd) {
  Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event wanted{};
  wanted.events = EPOLLPRI;
  if (!poll || ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, fd, &wanted) != 0) return std::nullopt;
  return PriorityPoll(std::move(poll));
}

void PriorityPoll::settle() const {
  epoll_event ignored{};
  // An announcement is spent by the first who looks, so its absence now means nothing.
  ::epoll_wait(poll_.get(), &ignored, 1, 0);
}

}  // namespace trainward::host
