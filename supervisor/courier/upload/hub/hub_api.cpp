#include "supervisor/courier/upload/hub/hub_api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/percent.hpp"
#include "common/os/clock.hpp"
#include "common/os/secret_file.hpp"
#include "supervisor/courier/net/http_retry.hpp"
#include "supervisor/courier/upload/hub/hub_refusal.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::int64_t call_ms = 60'000;
// The server itself ends a commit after about a minute.
constexpr std::int64_t commit_ms = 120'000;
constexpr std::int64_t small_answer = 1 << 20;
constexpr std::int64_t large_answer = 64 << 20;  // a page of a tree, addresses of many parts
constexpr int most_pages = 200;
constexpr std::size_t most_entries = 200'000;   // a Hub itself advises half of that
constexpr const char* owner_key = "hub/owner";  // of a repository that is named without one
constexpr std::string_view conflicting = "conflicting operation";

// It becomes a header.
bool is_plain_token(std::string_view token) {
  return !token.empty() && std::all_of(token.begin(), token.end(),
                                       [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

std::string endpoint_text(const orders::HubPlace& place) {
  if (!place.endpoint.empty()) return place.endpoint;
  std::string said = secret_variable("HF_ENDPOINT");
  return said.empty() ? std::string(usual_endpoint) : said;
}

}  // namespace

struct Api::Call {
  std::string method = "GET";
  std::string url;
  std::string body = {};
  std::string type = "application/json";
  std::int64_t most_bytes = small_answer;
  std::int64_t total_ms = call_ms;
  int most_redirects = 0;
};

Api::Api(orders::HubPlace place, Memory& memory, TargetOptions options, Times times)
    : place_(std::move(place)),
      memory_(memory),
      options_(std::move(options)),
      times_(std::move(times)),
      http_(options_.network, options_.stop) {}

std::string Api::shown() const { return "hub:" + place_.repo; }

Result<std::string> Api::token() const {
  std::string token;
  if (place_.token_file.empty()) {
    token = secret_variable("HF_TOKEN");
    if (token.empty()) {
      return fail(ErrorKind::permanent, "there is no token for the Hub", shown(),
                  "write one into a file of mode 600 and name it in hub.token_file, or start the "
                  "daemon with HF_TOKEN");
    }
  } else {
    auto text = read_secret(place_.token_file);
    if (!text) return propagate(text);
    token = std::move(*text);
  }
  if (is_plain_token(token)) return token;
  return fail(ErrorKind::permanent, "holds no token: it has spaces, lines or other bytes in it",
              place_.token_file.empty() ? "HF_TOKEN" : place_.token_file,
              "it is to hold one token and nothing else");
}

Result<net::Header> Api::authorization() const {
  auto secret = token();
  if (!secret) return propagate(secret);
  return net::Header{"Authorization", "Bearer " + *secret};
}

bool Api::pause(std::int64_t ms) const {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, options_.stop, std::chrono::milliseconds(ms), [] { return false; });
  return !options_.stop.stop_requested();
}

tl::unexpected<Error> Api::refuse(const net::Answer& answer, std::string_view doing) {
  Refusal refusal = refusal_of(answer, doing, shown(), now().wall.ms);
  wait_ms_ = refusal.wait_ms;
  return tl::unexpected<Error>(std::move(refusal.error));
}

Result<net::Answer> Api::repeated(const net::Request& request, bool repeat,
                                  const net::HttpClient::Progress& progress) {
  for (std::size_t tries = 0;; ++tries) {
    auto answer = http_.send(request, progress);
    const bool may_repeat = repeat && tries < times_.pauses_ms.size() &&
                            (answer ? net::may_be_retried(answer->status)
                                    : answer.error().kind == ErrorKind::transient);
    if (!may_repeat || options_.stop.stop_requested()) return answer;
    const std::int64_t ms = times_.pauses_ms[tries];
    // Too many requests are not mended by more of them.
    if (answer &&
        (answer->status == 429 || net::asked_to_wait_ms(*answer, now().wall.ms).value_or(0) > ms)) {
      return answer;
    }
    if (!pause(ms)) return answer;
  }
}

Result<net::Answer> Api::ask(const Call& call, bool repeat) {
  auto bearer = authorization();
  if (!bearer) return propagate(bearer);
  net::Request request;
  request.method = call.method;
  request.url = call.url;
  request.headers = {std::move(*bearer),
                     {"Accept", call.type == lfs_type ? call.type : "application/json"}};
  if (call.method != "GET") {
    request.headers.push_back({"Content-Type", call.type});
    request.body = call.body;
  }
  request.most_answer_bytes = call.most_bytes;
  request.total_ms = call.total_ms;
  request.most_redirects = call.most_redirects;  // of a repository that was renamed
  request.may_leave_host = false;
  return repeated(request, repeat, {});
}

Result<net::Answer> Api::send(net::Request request, bool told,
                              const net::HttpClient::Progress& progress, bool repeat) {
  auto at = repository();
  if (!at) return propagate(at);
  auto url = followed(request.url, at->endpoint);
  if (!url) return propagate(url);
  request.url = std::move(*url);
  if (told && same_origin(request.url, at->endpoint)) {
    auto bearer = authorization();
    if (!bearer) return propagate(bearer);
    request.headers.push_back(std::move(*bearer));
  }
  return repeated(request, repeat, progress);
}

Result<Identity> Api::identify() {
  if (identity_) return *identity_;
  auto endpoint = checked_endpoint(endpoint_text(place_));
  if (!endpoint) return propagate(endpoint);
  auto answer = ask({.url = *endpoint + "/api/whoami-v2"});
  if (!answer) return propagate(answer);
  if (!is_ok(*answer)) return refuse(*answer, "ask whose the token is");
  auto identity = parse_identity(answer->body, shown());
  if (!identity) return propagate(identity);
  identity_ = *identity;
  return identity;
}

Result<Repository> Api::repository() {
  if (!is_repository_name(place_.repo)) {
    return fail(ErrorKind::usage, "is no name of a repository", shown(),
                "write it as NAME or OWNER/NAME, of letters, digits, '-', '_' and '.'");
  }
  auto endpoint = checked_endpoint(endpoint_text(place_));
  if (!endpoint) return propagate(endpoint);
  Repository out{std::move(*endpoint), place_.repo, place_.revision};
  if (out.id.find('/') != std::string::npos) return out;
  auto owner = memory_.get(owner_key);
  if (!owner) return propagate(owner);
  if (!*owner || identity_) {
    auto identity = identify();
    if (!identity) return propagate(identity);
    if (*owner != identity->name) {
      if (auto ok = memory_.put(owner_key, identity->name); !ok) return propagate(ok);
    }
    *owner = identity->name;
  }
  out.id = **owner + "/" + out.id;
  return out;
}

// Whether it exists already is seen afterwards, when the branch is read again.
Status Api::create(const Repository& at) {
  for (std::size_t tries = 0;; ++tries) {
    auto answer = ask({.method = "POST",
                       .url = at.endpoint + "/api/repos/create",

                       .body = create_body(at.id, place_.is_private)});
    if (!answer) return propagate(answer);
    if (is_ok(*answer)) return {};
    const bool busy =
        answer->status == 409 && words_of(*answer).find(conflicting) != std::string::npos;
    if (answer->status == 409 && !busy) return {};
    if (!busy || tries >= times_.pauses_ms.size()) {
      auto refused = refuse(*answer, "make the repository");
      if (answer->status == 401 || answer->status == 403) {
        refused.value().hint = fmt::format(
            "the repository {} is not there, or hidden from this token, which may not make it: "
            "make "
            "it at {}/new, or give the token the right to write",
            at.id, at.endpoint);
      }
      return refused;
    }
    if (!pause(times_.pauses_ms[tries])) return refuse(*answer, "make the repository");
  }
}

Status Api::make_branch(const Repository& at) {
  auto answer = ask({.method = "POST",
                     .url = api_url(at, "/branch/" + percent_encoded(at.revision)),

                     .body = "{}"});
  if (!answer) return propagate(answer);
  if (is_ok(*answer) || answer->status == 409) return {};
  return refuse(*answer, fmt::format("make the branch '{}'", at.revision));
}

Result<Head> Api::head() {
  auto at = repository();
  if (!at) return propagate(at);
  bool created = false;
  bool branched = false;
  while (true) {
    auto answer = ask({.url = api_url(*at, "/revision/" + percent_encoded(at->revision))});
    if (!answer) return propagate(answer);
    if (is_ok(*answer)) return parse_revision(answer->body, shown());
    const std::string_view code = error_code(*answer);
    if (answer->status == 404 && code == "RevisionNotFound" && !branched) {
      branched = true;
      if (auto ok = make_branch(*at); !ok) return propagate(ok);
    } else if (answer->status == 404 && code != "RevisionNotFound" && !created) {
      created = true;
      if (auto ok = create(*at); !ok) return propagate(ok);
    } else {
      return refuse(*answer, "read the branch");
    }
  }
}

Result<std::optional<Head>> Api::find_head() {
  auto at = repository();
  if (!at) return propagate(at);
  for (bool created = false;; created = true) {
    auto answer = ask({.url = api_url(*at, "/revision/" + percent_encoded(at->revision))});
    if (!answer) return propagate(answer);
    if (is_ok(*answer)) {
      auto head = parse_revision(answer->body, shown());
      if (!head) return propagate(head);
      return std::optional<Head>(std::move(*head));
    }
    if (answer->status != 404) return refuse(*answer, "read the branch");
    if (error_code(*answer) == "RevisionNotFound") return std::optional<Head>();
    if (created) return refuse(*answer, "read the branch");
    if (auto ok = create(*at); !ok) return propagate(ok);
  }
}

Result<std::vector<Entry>> Api::tree(const std::string& revision) {
  auto at = repository();
  if (!at) return propagate(at);
  std::vector<Entry> out;
  std::string url = api_url(*at, fmt::format("/tree/{}?recursive=true", percent_encoded(revision)));
  for (int page = 0; page < most_pages && out.size() < most_entries; ++page) {
    auto answer = ask({.url = url, .most_bytes = large_answer});
    if (!answer) return propagate(answer);
    if (!is_ok(*answer)) return refuse(*answer, "read what the repository holds");
    auto entries = parse_tree(answer->body, shown());
    if (!entries) return propagate(entries);
    out.insert(out.end(), std::make_move_iterator(entries->begin()),
               std::make_move_iterator(entries->end()));
    const std::string next = next_page(answer->header("link"));
    if (next.empty()) return out;
    auto followed_url = followed(next, at->endpoint);
    if (!followed_url) return propagate(followed_url);
    if (!same_origin(*followed_url, at->endpoint)) {
      return fail(ErrorKind::corrupt, "the list of files goes on at another server", shown());
    }
    url = std::move(*followed_url);
  }
  return fail(ErrorKind::permanent, "the repository holds too many files", shown(),
              "give the checkpoints a repository of their own");
}

Result<std::optional<std::string>> Api::text(const std::string& revision, const std::string& path,
                                             std::size_t most_bytes) {
  auto at = repository();
  if (!at) return propagate(at);
  auto answer = ask({.url = resolve_url(*at, revision, path),

                     .most_bytes = static_cast<std::int64_t>(most_bytes),
                     .most_redirects = 5});
  if (!answer) return propagate(answer);
  if (answer->status == 404) return std::optional<std::string>();
  if (!is_ok(*answer)) return refuse(*answer, fmt::format("read {}", path));
  return std::optional<std::string>(std::move(answer->body));
}

Result<Modes> Api::preupload(const std::vector<Sample>& files) {
  auto at = repository();
  if (!at) return propagate(at);
  auto answer = ask({.method = "POST",
                     .url = api_url(*at, "/preupload/" + percent_encoded(at->revision)),

                     .body = preupload_body(files)});
  if (!answer) return propagate(answer);
  if (!is_ok(*answer)) return refuse(*answer, "ask how files are to go up");
  auto modes = parse_preupload(answer->body, shown());
  if (!modes) return propagate(modes);
  for (const Sample& file : files) {
    if (modes->count(file.path) == 0) {
      return fail(ErrorKind::corrupt, "its answer was not understood: it leaves files out",
                  shown());
    }
  }
  return modes;
}

Result<std::vector<Transfer>> Api::batch(const std::map<std::string, std::int64_t>& sizes) {
  auto at = repository();
  if (!at) return propagate(at);
  auto answer = ask({.method = "POST",
                     .url = batch_url(*at),

                     .body = batch_body(sizes, at->revision),
                     .type = std::string(lfs_type),
                     .most_bytes = large_answer});
  if (!answer) return propagate(answer);
  if (!is_ok(*answer)) return refuse(*answer, "ask where files are to go");
  return parse_batch(answer->body, shown(), sizes);
}

Committed Api::commit(const Operations& operations, const std::string& parent) {
  using State = Committed::State;
  auto at = repository();
  if (!at) return {State::refused, {}, std::move(at.error())};
  auto answer = ask({.method = "POST",
                     .url = api_url(*at, "/commit/" + percent_encoded(at->revision)),

                     .body = commit_body(operations, parent),
                     .type = "application/x-ndjson",
                     .total_ms = commit_ms},
                    false);
  if (!answer) {
    return {
        http_.request_was_sent() ? State::in_doubt : State::refused, {}, std::move(answer.error())};
  }
  if (is_ok(*answer)) {
    auto made = parse_commit(answer->body, shown());
    if (made) return {State::done, std::move(*made), {}};
    return {State::in_doubt, {}, std::move(made.error())};
  }
  // Somebody else was faster, whatever the words say.
  if (answer->status == 412 || answer->status == 409) return {State::moved, {}, {}};
  Refusal refusal = refusal_of(*answer, "commit the checkpoint", shown(), now().wall.ms);
  wait_ms_ = refusal.wait_ms;
  // An error of the server's own says nothing of what it did, or does still.
  const bool unknown = answer->status == 408 || answer->status >= 500;
  return {unknown && !is_commit_quota(*answer) ? State::in_doubt : State::refused,
          {},
          std::move(refusal.error)};
}

Result<std::vector<Tag>> Api::tags() {
  auto at = repository();
  if (!at) return propagate(at);
  auto answer = ask({.url = api_url(*at, "/refs"), .most_bytes = large_answer});
  if (!answer) return propagate(answer);
  if (!is_ok(*answer)) return refuse(*answer, "read the tags");
  return parse_tags(answer->body, shown());
}

Result<bool> Api::make_tag(const std::string& name, const std::string& commit) {
  auto at = repository();
  if (!at) return propagate(at);
  auto answer = ask({.method = "POST",
                     .url = api_url(*at, "/tag/" + percent_encoded(commit)),

                     .body = json::serialize(json::object{{"tag", name}})});
  if (!answer) return propagate(answer);
  if (is_ok(*answer)) return true;
  if (answer->status == 409) return false;
  return refuse(*answer, fmt::format("make the tag '{}'", name));
}

Status Api::squash(const std::string& message) {
  auto at = repository();
  if (!at) return propagate(at);
  auto answer = ask({.method = "POST",
                     .url = api_url(*at, "/super-squash/" + percent_encoded(at->revision)),

                     .body = json::serialize(json::object{{"message", message}}),
                     .total_ms = commit_ms});
  if (!answer) return propagate(answer);
  if (is_ok(*answer)) return {};
  return refuse(*answer, "squash the history");
}

}  // namespace trainward::upload::hub
