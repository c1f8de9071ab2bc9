#include "common/base/error.hpp"

#include <cerrno>
#include <system_error>

namespace trainward {
namespace {

// What helps whatever was attempted.
std::string_view usual_hint(int error_number) {
  if (error_number == EMFILE) return "raise LimitNOFILE= in the unit, or `ulimit -n`";
  if (error_number == ENFILE) return "the whole machine has too many files open: fs.file-max";
  return "";
}

}  // namespace

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::transient:
      return "transient";
    case ErrorKind::permanent:
      return "permanent";
    case ErrorKind::corrupt:
      return "corrupt";
    case ErrorKind::usage:
      return "usage";
  }
  return "permanent";
}

std::string Error::message() const {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

tl::unexpected<Error> fail_errno(int error_number, std::string_view action, std::string where,
                                 std::string hint) {
  const bool again = error_number == EINTR || error_number == EAGAIN || error_number == EBUSY ||
                     error_number == ETIMEDOUT || error_number == ENOMEM ||
                     error_number == ENOSPC || error_number == EDQUOT || error_number == EMFILE ||
                     error_number == ENFILE;
  if (hint.empty()) hint = usual_hint(error_number);
  // generic_category().message() is thread-safe, unlike strerror().
  return fail(again ? ErrorKind::transient : ErrorKind::permanent,
              fmt::format("cannot {}: {}", action, std::generic_category().message(error_number)),
              std::move(where), std::move(hint));
}

}  // namespace trainward
