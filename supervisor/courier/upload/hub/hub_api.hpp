// The calls of a Hub that an upload needs, each checked and read. One thread.
//
// The token is read for every call, so that a changed file counts, and goes to the endpoint alone.
// Calls that may be repeated are, a few times; a server that asks to wait longer is left to the
// caller: wait_ms(). Errors name the repository and never hold a secret.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/courier/upload/hub/hub_address.hpp"
#include "supervisor/courier/upload/hub/hub_answers.hpp"
#include "supervisor/courier/upload/hub/hub_requests.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/target/target_options.hpp"
#include "supervisor/orders/targets.hpp"

namespace trainward::upload::hub {

struct Times {
  // Before a call is repeated.
  std::vector<std::int64_t> pauses_ms = {1'000, 4'000};
  // A commit whose answer was lost may still be made for so long.
  std::int64_t settle_ms = 65'000;
};

// What became of a commit.
struct Committed {
  enum class State {
    done,
    moved,     // the branch is not where it was; nothing was committed
    in_doubt,  // nobody knows: it is there, or may still come, or not
    refused,   // nothing was committed
  };
  State state = State::done;
  Head head = {};    // done
  Error error = {};  // in doubt, refused
};

class Api {
 public:
  // `memory` outlives it.
  Api(orders::HubPlace place, Memory& memory, TargetOptions options, Times times);

  // Asks who the token is, once a life: the Hub allows few of these calls.
  Result<Identity> identify();
  // The repository's name and endpoint. Where the configuration does not say whose repository it
  // is, it is the token's: asked once and remembered.
  Result<Repository> repository();

  // The commit at the branch's end. Repository and branch are made where they are missing.
  Result<Head> head();
  // The same of what is there; nothing: there is no such branch. A repository that the token may
  // not see looks like one that is not there, until it is to be made: so it is, where it is
  // missing.
  Result<std::optional<Head>> find_head();
  Result<std::vector<Entry>> tree(const std::string& revision);
  // A small file; nothing: it is not there.
  Result<std::optional<std::string>> text(const std::string& revision, const std::string& path,
                                          std::size_t most_bytes);
  Result<Modes> preupload(const std::vector<Sample>& files);
  Result<std::vector<Transfer>> batch(const std::map<std::string, std::int64_t>& sizes);
  Committed commit(const Operations& operations, const std::string& parent);
  Result<std::vector<Tag>> tags();
  // False: there is a tag of that name.
  Result<bool> make_tag(const std::string& name, const std::string& commit);
  // The branch's history becomes one commit.
  Status squash(const std::string& message);

  // To the store behind the Hub, or wherever an answer pointed: the token goes along only if `told`
  // and the address is the endpoint's own. Repeated as other calls are, unless that is the
  // caller's.
  Result<net::Answer> send(net::Request request, bool told,
                           const net::HttpClient::Progress& progress = {}, bool repeat = true);
  // Whether a person or a later try has to see to an answer.
  tl::unexpected<Error> refuse(const net::Answer& answer, std::string_view doing);

  // False: a stop was requested meanwhile.
  bool pause(std::int64_t ms) const;
  // What seals addresses that are kept.
  Result<std::string> token() const;
  [[nodiscard]] std::optional<std::int64_t> wait_ms() const { return wait_ms_; }
  void ask_to_wait(std::optional<std::int64_t> ms) { wait_ms_ = ms; }
  [[nodiscard]] std::string shown() const;  // "hub:me/run"
  [[nodiscard]] const TargetOptions& options() const { return options_; }
  [[nodiscard]] const Times& times() const { return times_; }

 private:
  struct Call;
  Result<net::Answer> ask(const Call& call, bool repeat = true);
  Result<net::Answer> repeated(const net::Request& request, bool repeat,
                               const net::HttpClient::Progress& progress);
  Result<net::Header> authorization() const;
  Status create(const Repository& at);
  Status make_branch(const Repository& at);

  orders::HubPlace place_;
  Memory& memory_;
  TargetOptions options_;
  Times times_;
  net::HttpClient http_;
  std::optional<Identity> identity_;
  std::optional<std::int64_t> wait_ms_;
};

}  // namespace trainward::upload::hub
