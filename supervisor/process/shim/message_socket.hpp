// The worker's mouth: a Unix datagram socket it can reach by path.
//
// Where the attempt's folder lies too deep for a socket address, a private folder under /tmp takes
// its place, since a worker in any language must be able to connect by path. Only the worker's user
// can send to it.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/credentials.hpp"
#include "common/os/fd.hpp"
#include "common/os/folder.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::shim {

class MessageSocket {
 public:
  // `user`: the worker's, where that is not the shim's; it must be able to enter `folder`, and may
  // not write in it.
  static Result<MessageSocket> open(std::shared_ptr<const Folder> folder,
                                    const std::optional<Credentials>& user = std::nullopt);
  MessageSocket(MessageSocket&&) = default;
  MessageSocket& operator=(MessageSocket&&) = delete;
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;
  ~MessageSocket();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // One datagram, or nothing when none is waiting. Anything but key-value pairs comes out empty.
  [[nodiscard]] std::optional<Message> receive() const;

 private:
  MessageSocket() = default;
  std::shared_ptr<const Folder> folder_;  // that holds it; null: `temporary_` does
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Fd fd_;
};

}  // namespace trainward::shim
