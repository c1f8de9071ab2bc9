// A plain store of objects by key: a folder, a bucket. What a checkpoint is, and the order in which
// it is published, is plain_target.hpp's.
//
// Keys have '/' between their parts and are safe names (publication.hpp). One thread. Errors: as of
// upload::Target; none says a secret.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload {

class ObjectStore {
 public:
  ObjectStore() = default;
  virtual ~ObjectStore() = default;
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  virtual Status check() = 0;
  // As of Target.
  [[nodiscard]] virtual std::int64_t part_bytes(std::int64_t size) const {
    (void)size;
    return 0;
  }

  // When it returns the object is there wholly, with these bytes, and survives a power cut as far
  // as the place promises it. Kind corrupt: the file has not the digest that it had. What has
  // arrived of an interrupted one is not sent again. Progress: bytes of this file that have
  // arrived.
  virtual Status put_file(const std::string& key, const File& file, const Progress& progress) = 0;
  // That it is there is on record: how it got there need not be remembered any longer. Until then
  // put_file() of the same bytes finds what has arrived.
  virtual Status noted(const std::string& key) {
    (void)key;
    return {};
  }
  // What has arrived of an object that was not finished is removed.
  virtual Status abandon(const std::string& key) = 0;

  struct Text {
    std::string text;
    std::string version;  // changes with the text; empty where the place has none
  };
  virtual Result<std::optional<Text>> get_text(const std::string& key, std::size_t most_bytes) = 0;
  // The object is as it was or holds the new text. `replaces`: only if that is what is there
  // (nothing: only if none is); false: somebody else was faster. Where the place cannot compare it
  // is replaced.
  virtual Result<bool> put_text(const std::string& key, const std::string& text,
                                const std::optional<Text>& replaces) = 0;

  // Of those that begin with `prefix`, which ends with '/', in the order of their bytes.
  virtual Result<std::vector<std::string>> list(const std::string& prefix) = 0;
  virtual Result<std::optional<std::int64_t>> size(const std::string& key) = 0;
  // SHA-256, where it can be had without sending the object over a line; else nothing.
  virtual Result<std::optional<std::string>> digest(const std::string& key) = 0;
  virtual Status remove(const std::string& key) = 0;  // what is not there is removed

  // The bytes into an empty open file. What was cut off is asked for again from there on.
  virtual Status fetch(const std::string& key, std::int64_t size, int descriptor,
                       const Progress& progress) = 0;

  [[nodiscard]] virtual std::string shown(const std::string& key) const = 0;  // for people
  [[nodiscard]] virtual std::optional<std::int64_t> wait_ms() const { return std::nullopt; }
};

}  // namespace trainward::upload
