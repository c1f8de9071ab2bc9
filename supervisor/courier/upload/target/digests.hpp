// The digests of a file that goes up in parts, of each part and of all of it: taken while it is
// sent, a few parts ahead, from the same bytes, which are read once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::upload {

// What is asked for is waited for; any thread may ask. Kinds: corrupt (the file ends before its
// size), transient (stopped). Takes 1 MiB of memory and two threads while it is at work.
class Digests {
 public:
  // Nothing is read before somebody asks; then `file`, which must be open, is duplicated. `where`
  // is for errors.
  static std::shared_ptr<Digests> of(int file, std::int64_t size, std::int64_t part_bytes,
                                     std::filesystem::path where, std::stop_token stop);
  // That were taken before.
  static std::shared_ptr<Digests> kept(std::int64_t part_bytes, std::string whole,
                                       std::vector<std::string> parts);

  [[nodiscard]] std::int64_t part_bytes() const { return part_bytes_; }
  // Nothing: it lies so far ahead of what has been read that the sender has to take it itself.
  Result<std::optional<std::string>> part(std::size_t index);
  Result<std::string> whole();
  // Without waiting.
  [[nodiscard]] std::optional<std::string> whole_if_taken() const;
  [[nodiscard]] std::vector<std::string> parts() const;  // as many as are taken

 private:
  struct Source {
    int file = -1;
    std::int64_t size = 0;
    std::filesystem::path where;
    std::stop_token stop;
  };
  Digests(std::int64_t part_bytes, Source source)
      : part_bytes_(part_bytes), source_(std::move(source)) {}

  void want(std::size_t parts);
  void take(const Fd& file, const std::stop_token& ended);
  Result<std::string> read_all(const Fd& file, const std::stop_token& ended);

  const std::int64_t part_bytes_;
  const Source source_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t wanted_ = 0;  // so many parts may be read
  std::vector<std::string> parts_;
  std::optional<std::string> whole_;
  std::optional<Error> failed_;
  std::jthread thread_;  // the last: it ends before all else
};

}  // namespace trainward::upload
