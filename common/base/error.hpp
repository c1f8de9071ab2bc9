// Errors as values.
//
// Every function that can fail returns Result<T>. An Error says what failed, where (a file, line,
// address or name), what to do next, and by its kind whether trying again can help. Exceptions of
// libraries are caught at the adapter that calls the library and never cross a header of ours.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace trainward {

enum class ErrorKind {
  transient,  // may succeed when tried again: busy, interrupted, timed out
  permanent,  // will fail again until something is changed
  corrupt,    // data is damaged or not what it says it is
  usage,      // the caller or the user asked for something impossible
};

std::string_view to_string(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::permanent;
  std::string what;   // one sentence without a full stop
  std::string where;  // "file:line:column", a path, a key; may be empty
  std::string hint;   // the next step for the reader; may be empty

  // "where: what (hint)"
  [[nodiscard]] std::string message() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string what, std::string where = {},
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(what), std::move(where), std::move(hint)});
}

// An error from errno: ENOENT and friends are permanent, EINTR/EAGAIN/EBUSY transient.
tl::unexpected<Error> fail_errno(int error_number, std::string_view action, std::string where = {},
                                 std::string hint = {});

// Passes an error of one result type on as another's: `if (!r) return propagate(r);`
template <typename T>
tl::unexpected<Error> propagate(Result<T>& result) {
  return tl::unexpected<Error>(std::move(result).error());
}

}  // namespace trainward
