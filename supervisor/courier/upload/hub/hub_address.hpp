// Addresses of a Hub, and what may be done with those that it answers. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::upload::hub {

inline constexpr std::string_view usual_endpoint = "https://huggingface.co";

// A model repository at a revision.
struct Repository {
  std::string endpoint;  // "https://huggingface.co", without '/' at its end
  std::string id;        // "me/run"
  std::string revision;  // a branch: "main"
};

// "https://hub.example/" without its '/'. Kind usage: not an address of http or https, or one with
// a user, a query or a fragment in it.
Result<std::string> checked_endpoint(std::string_view text);

// "run" or "me/run", by the Hub's own rules.
bool is_repository_name(std::string_view name);

// "/api/models/me/run" + rest, at the endpoint.
std::string api_url(const Repository& at, std::string_view rest);
std::string batch_url(const Repository& at);
// The bytes of a file: `revision` is a branch, a tag or a commit.
std::string resolve_url(const Repository& at, std::string_view revision, std::string_view path);

// For people.
std::string shown_commit(const Repository& at, std::string_view commit);
std::string shown_tree(const Repository& at, std::string_view revision);

// Scheme, host and port are the same.
bool same_origin(std::string_view a, std::string_view b);

// An address out of an answer, as it is to be called: one of huggingface.co goes to the endpoint
// when that is another one. Kind permanent: it is no address of https, and of http only where the
// endpoint itself is; the error does not show it, since it may be signed.
Result<std::string> followed(const std::string& href, const std::string& endpoint);

// Until when a signed address is good by its own words (X-Amz-Date with X-Amz-Expires), wall ms.
std::optional<std::int64_t> good_until_ms(std::string_view url);

}  // namespace trainward::upload::hub
