// Where answers come from: the daemon, or, if none runs, its database read-only, and then the
// reader is told so on stderr.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/ctl/base/context.hpp"
#include "supervisor/ctl/client/client.hpp"

namespace trainward::store {
class Store;
}

namespace trainward::ctl {

inline constexpr std::chrono::milliseconds short_deadline{10'000};
// Stopping waits for a worker to save; probing for a device that may be stuck.
inline constexpr std::chrono::milliseconds long_deadline{15 * 60'000};

// A failed command: what to print and the exit code.
struct Failure {
  int exit_code = 1;
  Error error;
};
template <typename T>
using Answer = tl::expected<T, Failure>;

// The list of programs, with `also`, which may be no longer in the configuration; "": without.
std::string programs_with(const std::string& also);

// Of the daemon that the settings name, here or elsewhere.
Client client_of(const Context& context);

// From the daemon only.
Answer<json::value> call(const Context& context, Method method, const std::string& target,
                         std::chrono::milliseconds deadline = short_deadline);

using FromDatabase = std::function<Result<json::value>(const store::Store&)>;

// From the database, where `daemon` is what came of asking the daemon and nobody answers there;
// else that failure.
Answer<json::value> ask_without_daemon(const Context& context, const ClientError& daemon,
                                       const FromDatabase& from_database);

// From the daemon, else from the database.
Answer<json::value> ask(const Context& context, const std::string& target,
                        const FromDatabase& from_database);

Failure failure_of(const ClientError& error);

// Answers of the wrong shape are the daemon's fault, not a crash of ours.
Answer<json::array> as_array(Answer<json::value> answer);
Answer<json::object> as_object(Answer<json::value> answer);

// The texts of a list; none when there is no such list.
std::vector<std::string> texts_in(const json::object& answer, std::string_view key);

// Prints the error to stderr and gives the exit code.
int finish(const Context& context, const Failure& failure);

// Where the API keeps a document of a program, or of all of them (""): "/v1/history".
std::string target_of(const std::string& program, std::string_view document);

// Rows of a program from the database. None at all may also mean that the name is wrong: kind
// usage.
Result<json::value> of_program(const store::Store& store, const std::string& program,
                               Result<json::array> rows);

// The end of a command that prints what it got: as JSON, or as `text` of it, or as `nothing` where
// a list is empty; or the failure. Returns the exit code.
int print_rows(const Context& context, const Answer<json::array>& rows, std::string_view nothing,
               const std::function<std::string(const json::array&)>& text);
int print_document(const Context& context, const Answer<json::object>& document,
                   const std::function<std::string(const json::object&)>& text);

}  // namespace trainward::ctl
