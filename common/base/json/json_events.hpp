// JSON told value by value as it is read, and not kept: a text of any length costs the memory of
// the way to the value at hand. For what a program may have made as large as it likes.
//
// In: the text, in pieces. Out: calls to a listener. Refused, kind corrupt: what is no JSON, deeper
// than 32, or followed by something else. Members that come twice are told twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "common/base/error.hpp"

namespace trainward {

// A list or an object that is open around what is told, the outermost first.
struct JsonLevel {
  bool list = false;
  std::string key;        // of the member in an object: its first 1024 bytes
  std::size_t index = 0;  // of the entry in a list
};
using JsonWay = std::span<const JsonLevel>;

// Text: its first 1024 bytes.
using JsonScalar =
    std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string_view>;

class JsonListener {
 public:
  virtual ~JsonListener() = default;
  virtual void value(JsonWay at, const JsonScalar& value) = 0;
  virtual void begin(JsonWay /*at*/, bool /*list*/) {}
  virtual void end(JsonWay /*at*/, std::size_t /*entries*/) {}
};

class JsonEvents {
 public:
  // `where` names the source in errors.
  JsonEvents(JsonListener& listener, std::string where);
  ~JsonEvents();
  JsonEvents(const JsonEvents&) = delete;
  JsonEvents& operator=(const JsonEvents&) = delete;

  // After an error nothing more is to be written.
  Status write(std::string_view text);
  Status finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainward
