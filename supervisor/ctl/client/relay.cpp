#include "supervisor/ctl/client/relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace trainward::ctl::remote {
namespace {

constexpr std::size_t most_waiting = 1 << 20;
constexpr std::size_t most_channels = 256;

bool later(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

pollfd watched(int fd, bool reads, bool writes) {
  const auto events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
  // A hang-up is told even of what is not asked for, again and again.
  return {events == 0 ? -1 : fd, events, 0};
}

int number_of(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number > 0 ? number : EIO;
}

}  // namespace

bool write_some(int fd, std::string& bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && errno == ENOTSOCK) put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0) return later(errno);
    bytes.erase(0, static_cast<std::size_t>(put));
  }
  return true;
}

void Relay::open(Fd fd, Refusal refusal) {
  const std::uint32_t id = next_++;
  add_frame(output_, FrameKind::open, id);
  channels_[id] = {std::move(fd), "", false, std::move(refusal)};
}

Result<bool> Relay::turn(std::initializer_list<int> also) {
  // Frames behind the other side's first line were read with it.
  if (auto acted = act_on_frames(); !acted) return propagate(acted);
  const bool clogged = std::any_of(channels_.begin(), channels_.end(), [](const auto& entry) {
    return entry.second.pending.size() > most_waiting;
  });
  const bool full = output_.size() > most_waiting;
  std::vector<pollfd> polled{watched(in_, !clogged, false), watched(out_, false, !output_.empty())};
  std::vector<std::uint32_t> ids;
  for (const auto& [id, channel] : channels_) {
    ids.push_back(id);
    polled.push_back(watched(channel.fd.get(), !full && !channel.ending, !channel.pending.empty()));
  }
  const std::size_t behind = polled.size();
  for (const int fd : also) polled.push_back(watched(fd, true, false));
  if (::poll(polled.data(), polled.size(), -1) < 0) {
    if (errno == EINTR) return true;
    return fail_errno(errno, "wait for the connection");
  }
  const std::size_t first = behind - ids.size();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (polled[first + i].revents != 0) serve(ids[i], polled[first + i].revents);
  }
  bool goes_on = true;
  if (polled[0].revents != 0) {
    auto read = read_input();
    if (!read) return propagate(read);
    goes_on = *read;
  }
  if (auto written = write_output(); !written) return propagate(written);
  return goes_on;
}

Result<bool> Relay::read_input() {
  std::array<char, longest_payload> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(in_, piece.data(), piece.size());
  if (got < 0 && later(errno)) return true;
  if (got <= 0) return false;
  reader_.add({piece.data(), static_cast<std::size_t>(got)});
  if (auto acted = act_on_frames(); !acted) return propagate(acted);
  return true;
}

Status Relay::act_on_frames() {
  for (;;) {
    const auto frame = reader_.next();
    if (!frame) return tl::unexpected<Error>(frame.error());
    if (!*frame) return {};
    if (auto acted = act_on(**frame); !acted) return acted;
  }
}

Status Relay::act_on(const Frame& frame) {
  if (frame.kind == FrameKind::open) {
    if (!connect_ || channels_.contains(frame.channel)) {
      return fail(ErrorKind::corrupt, "the other side opens what it may not");
    }
    auto fd = channels_.size() < most_channels ? connect_() : tl::unexpected<int>(EMFILE);
    if (fd) {
      channels_[frame.channel] = {std::move(*fd), "", false, {}};
    } else {
      add_frame(output_, FrameKind::refused, frame.channel, std::to_string(fd.error()));
    }
    return {};
  }
  const auto found = channels_.find(frame.channel);
  // Both sides may end a channel at the same time.
  if (found == channels_.end()) return {};
  Channel& channel = found->second;
  switch (frame.kind) {
    case FrameKind::data:
      if (!channel.ending) channel.pending += frame.payload;
      if (!write_some(channel.fd.get(), channel.pending)) end(frame.channel);
      break;
    case FrameKind::refused:
      if (channel.refusal) *channel.refusal = number_of(frame.payload);
      channels_.erase(found);
      break;
    case FrameKind::end:
      channel.ending = true;
      if (channel.pending.empty()) channels_.erase(found);
      break;
    case FrameKind::open:
      break;
  }
  return {};
}

Status Relay::write_output() {
  if (write_some(out_, output_)) return {};
  return fail_errno(errno, "write to the connection");
}

void Relay::serve(std::uint32_t id, short events) {
  const auto found = channels_.find(id);
  if (found == channels_.end()) return;
  Channel& channel = found->second;
  if (!channel.pending.empty() && !write_some(channel.fd.get(), channel.pending)) return end(id);
  if (channel.ending) {
    if (channel.pending.empty()) channels_.erase(found);
    return;
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return;
  std::array<char, longest_payload> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(channel.fd.get(), piece.data(), piece.size());
  if (got < 0 && later(errno)) return;
  if (got <= 0) return end(id);
  add_frame(output_, FrameKind::data, id, {piece.data(), static_cast<std::size_t>(got)});
}

void Relay::end(std::uint32_t id) {
  // The other side knows of its own end.
  if (!channels_.at(id).ending) add_frame(output_, FrameKind::end, id);
  channels_.erase(id);
}

}  // namespace trainward::ctl::remote
