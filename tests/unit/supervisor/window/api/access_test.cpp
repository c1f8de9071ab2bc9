// Tokens, links, logins, cookies and wrong tries, with a clock that the test turns; and what
// with_access() lets through.
#include "supervisor/window/api/access/access.hpp"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "supervisor/window/api/access/cookie.hpp"
#include "supervisor/window/api/access/login_form.hpp"
#include "supervisor/window/api/access/secret.hpp"
#include "supervisor/window/api/http/http_pipe.hpp"
#include "supervisor/window/api/http/network.hpp"

namespace trainward::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const std::string viewer_token = "viewer-token-0123456789abcdefghij";
const std::string operator_token = "operator-token-0123456789abcdefgh";

std::vector<Key> two_keys() {
  return {{"anna", digest_of(viewer_token), Role::viewer},
          {"bert", digest_of(operator_token), Role::operates}};
}

Request over_tcp(const std::string& method, const std::string& path,
                 std::map<std::string, std::string> headers = {}) {
  headers.emplace("host", "127.0.0.1:8420");
  return {.method = method,
          .path = path,
          .headers = std::move(headers),
          .peer = {std::nullopt, "127.0.0.1"}};
}

Request over_unix(const std::string& method, const std::string& path) {
  return {.method = method,
          .path = path,
          .headers = {{"host", "localhost"}},
          .peer = {1000, ""},
          .by = {Role::operates, "uid 1000"}};
}

class Entering : public testing::Test {
 protected:
  Entering() {
    access_.be_at([] { return std::string("http://127.0.0.1:8420"); });
  }

  Response ask(const Request& request) {
    std::optional<Response> got;
    handler_(request, [&](Response response) { got = std::move(response); });
    EXPECT_TRUE(got.has_value());
    return std::move(*got);
  }
  // The code of a new link.
  std::string code(Role role = Role::operates, const std::string& program = "") {
    const auto link = access_.link(over_unix("POST", "/v1/login-link"), role, program);
    EXPECT_TRUE(link.has_value());
    const std::string url(link->at("url").as_string());
    EXPECT_THAT(url, StartsWith("http://127.0.0.1:8420/login?code="));
    return url.substr(url.find('=') + 1);
  }
  static Request opening(const std::string& code) {
    Request request = over_tcp("GET", "/login");
    request.query["code"] = code;
    return request;
  }
  // As the browser sends it back.
  static std::string cookie_of(const Response& response) {
    const std::string set = response.headers.at("Set-Cookie");
    return set.substr(0, set.find(';'));
  }
  Response with_cookie(const std::string& cookie, const std::string& path = "/v1/programs") {
    return ask(over_tcp("GET", path, {{"cookie", cookie}}));
  }
  static Request by_user(std::optional<uid_t> user, Request request) {
    request.peer.sender = user;
    return request;
  }
  static Request form(const std::string& body) {
    Request request =
        over_tcp("POST", "/login", {{"content-type", "application/x-www-form-urlencoded"}});
    request.body = body;
    return request;
  }

  std::int64_t now_ms_ = 1'000'000;
  Access access_{Keys(two_keys()), [this] { return now_ms_; }};
  // Says who asked; nobody is turned away as the router does it.
  Handler handler_ = with_access(access_, [](const Request& request, const Respond& respond) {
    if (request.by.role == Role::nobody)
      return respond(error_response(401, {ErrorKind::usage, "login", "", ""}));
    respond(Response{.body = request.by.name +
                             (request.by.role == Role::operates ? " operates" : " looks")});
  });
};

TEST(Secrets, AreLongAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string secret = new_secret().value();
    EXPECT_EQ(secret.size(), 64U);
    EXPECT_TRUE(seen.insert(secret).second);
  }
  EXPECT_TRUE(same_digest(digest_of("a"), digest_of("a")));
  EXPECT_FALSE(same_digest(digest_of("a"), digest_of("b")));
  EXPECT_FALSE(same_digest(digest_of("a"), ""));
}

TEST_F(Entering, OverTheUnixSocketEverybodyIsWhoTheKernelSays) {
  EXPECT_EQ(ask(over_unix("GET", "/v1/programs")).body, "uid 1000 operates");
  Request with_a_wrong_token = over_unix("GET", "/v1/programs");
  with_a_wrong_token.headers["authorization"] = "Bearer nonsense";
  EXPECT_EQ(ask(with_a_wrong_token).body, "uid 1000 operates");
}

TEST_F(Entering, OverTcpNobodyIsSomebodyWithoutAWord) {
  EXPECT_EQ(ask(over_tcp("GET", "/v1/programs")).status, 401);
  EXPECT_EQ(ask(over_tcp("POST", "/v1/shutdown")).status, 401);
}

TEST_F(Entering, ATokenSaysWhoItIsAndWhatHeMayDo) {
  const auto asks = [&](const std::string& header) {
    return ask(over_tcp("GET", "/v1/programs", {{"authorization", header}}));
  };
  EXPECT_EQ(asks("Bearer " + viewer_token).body, "token anna looks");
  EXPECT_EQ(asks("bearer  " + operator_token + " ").body, "token bert operates");
  for (const std::string& wrong :
       {std::string("Bearer"), std::string("Bearer "), "Bearer " + viewer_token + "x",
        "Bearer " + viewer_token.substr(1)}) {
    EXPECT_EQ(asks(wrong).status, 401) << wrong;
    access_ = Access(Keys(two_keys()), [this] { return now_ms_; });
  }
  EXPECT_EQ(asks("Basic " + viewer_token).status, 401);
}

TEST_F(Entering, ALinkLetsOneIn) {
  const std::string once = code();
  const Response first = ask(opening(once));
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.headers.at("Location"), "/");
  EXPECT_EQ(first.headers.at("Cache-Control"), "no-store");
  EXPECT_THAT(first.headers.at("Set-Cookie"),
              AllOf(StartsWith("trainward_session="), HasSubstr("; HttpOnly"),
                    HasSubstr("; SameSite=Strict"), HasSubstr("; Path=/"),
                    HasSubstr("; Max-Age=43200"), Not(HasSubstr("Secure")), Not(HasSubstr(once))));
  EXPECT_EQ(with_cookie(cookie_of(first)).body, "link of uid 1000 operates");
  const Response second = ask(opening(once));
  EXPECT_EQ(second.status, 403);
  EXPECT_THAT(second.body, HasSubstr("trainwardctl open"));
  EXPECT_FALSE(second.headers.contains("Set-Cookie"));
}

TEST_F(Entering, ALinkForAViewerToOneProgram) {
  const Response answer = ask(opening(code(Role::viewer, "run-1")));
  EXPECT_EQ(answer.headers.at("Location"), "/programs/run-1");
  EXPECT_EQ(with_cookie(cookie_of(answer)).body, "link of uid 1000 looks");
  for (const char* wrong : {"..", ".", "a/b", "a b", "//evil.test", "\r\nX: y", "a?b"}) {
    EXPECT_FALSE(access_.link(over_unix("POST", "/v1/login-link"), Role::viewer, wrong)) << wrong;
  }
}

TEST_F(Entering, ALinkDiesAfterAMinute) {
  const std::string late = code();
  now_ms_ += Links::lifetime_ms;
  EXPECT_EQ(ask(opening(late)).status, 403);
  const std::string early = code();
  now_ms_ += Links::lifetime_ms - 1;
  EXPECT_EQ(ask(opening(early)).status, 303);
}

TEST_F(Entering, ALinkIsUsedUpByAPersonOnly) {
  const std::string once = code();
  const std::vector<std::map<std::string, std::string>> machines{
      {{"sec-purpose", "prefetch"}},
      {{"sec-purpose", "prefetch;prerender"}},
      {{"purpose", "prefetch"}},
      {{"purpose", "Preview"}},
      {{"x-moz", "prefetch"}},
      {{"sec-fetch-mode", "no-cors"}},
      {{"sec-fetch-mode", "cors"}},
      {{"sec-fetch-dest", "image"}},
      {{"sec-fetch-mode", "navigate"}, {"sec-fetch-dest", "iframe"}}};
  for (const auto& headers : machines) {
    Request request = opening(once);
    for (const auto& header : headers) request.headers.insert(header);
    EXPECT_EQ(ask(request).status, 403) << headers.begin()->first;
  }
  Request head = opening(once);
  head.method = "HEAD";
  EXPECT_EQ(ask(head).status, 403);
  Request person = opening(once);
  person.headers["sec-fetch-mode"] = "navigate";
  person.headers["sec-fetch-dest"] = "document";
  EXPECT_EQ(ask(person).status, 303);
}

TEST_F(Entering, LinksAreGivenOverTheUnixSocketAndNotWithoutEnd) {
  Request remote = over_tcp("POST", "/v1/login-link");
  remote.by = {Role::operates, "token bert"};
  EXPECT_FALSE(access_.link(remote, Role::viewer, ""));
  for (std::size_t i = 0; i < Links::most; ++i) code();
  const auto refused = access_.link(over_unix("POST", "/v1/login-link"), Role::viewer, "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  now_ms_ += Links::lifetime_ms;
  code();
  access_.be_at([] { return std::string(); });
  const auto nowhere = access_.link(over_unix("POST", "/v1/login-link"), Role::viewer, "");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().hint, HasSubstr("listen: 127.0.0.1:8420"));
}

TEST_F(Entering, ALoginLastsTwelveHoursAndEndsWhenAsked) {
  const std::string cookie = cookie_of(ask(opening(code())));
  now_ms_ += Logins::lifetime_ms - 1;
  EXPECT_EQ(with_cookie(cookie).status, 200);
  now_ms_ += 1;
  EXPECT_EQ(with_cookie(cookie).status, 401);

  const std::string other = cookie_of(ask(opening(code())));
  const Response out = ask(over_tcp("POST", "/logout", {{"cookie", other}}));
  EXPECT_EQ(out.status, 303);
  EXPECT_EQ(out.headers.at("Location"), "/login");
  EXPECT_THAT(out.headers.at("Set-Cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(with_cookie(other).status, 401);
  EXPECT_EQ(ask(over_tcp("GET", "/logout", {{"cookie", other}})).status, 405);
}

TEST_F(Entering, TheFormTakesATokenAndNeverRepeatsIt) {
  const Response in = ask(form("token=" + operator_token));
  EXPECT_EQ(in.status, 303);
  EXPECT_THAT(in.headers.at("Set-Cookie"), Not(HasSubstr(operator_token)));
  EXPECT_EQ(with_cookie(cookie_of(in)).body, "token bert operates");
  const Response wrong = ask(form("token=%3Cscript%3E" + viewer_token));
  EXPECT_EQ(wrong.status, 401);
  EXPECT_THAT(wrong.body,
              AllOf(HasSubstr("<form"), Not(HasSubstr(viewer_token)), Not(HasSubstr("<script"))));
  EXPECT_EQ(ask(form("other=1")).status, 400);
  EXPECT_EQ(ask(form("token=%zz")).status, 400);
  EXPECT_EQ(ask(over_tcp("PUT", "/login")).status, 405);
}

TEST_F(Entering, WhoeverSaysWrongTokensWaitsAndWhoeverIsRightDoesNot) {
  const auto wrong = [&](std::optional<uid_t> user = std::nullopt) {
    return ask(by_user(user, over_tcp("GET", "/v1/programs", {{"authorization", "Bearer wrong"}})));
  };
  const std::string cookie = cookie_of(ask(opening(code())));
  const std::string fresh = code();
  for (int i = 0; i <= Tries::free; ++i) EXPECT_EQ(wrong().status, 401);
  const Response late = wrong();
  EXPECT_EQ(late.status, 429);
  EXPECT_EQ(late.headers.at("Retry-After"), "1");
  EXPECT_EQ(ask(form("token=nonsense")).status, 429);
  EXPECT_EQ(ask(opening("0123")).status, 429);
  EXPECT_EQ(with_cookie(cookie).status, 200);  // who is in stays in
  EXPECT_EQ(ask(opening(fresh)).status, 303) << "a fresh link";
  for (int i = 0; i <= Tries::free; ++i) wrong();
  EXPECT_EQ(wrong().status, 429);
  EXPECT_EQ(
      ask(over_tcp("GET", "/v1/programs", {{"authorization", "Bearer " + viewer_token}})).status,
      200);
  EXPECT_EQ(wrong().status, 401);  // and all is forgotten
  for (int i = 0; i <= Tries::free; ++i) wrong();
  EXPECT_EQ(ask(form("token=" + operator_token)).status, 303);
}

TEST_F(Entering, WrongTokensCountForWhoeverSaysThem) {
  access_.behind({"127.0.0.1", "10.0.0.1"});
  const auto wrong = [&](const std::string& address, std::optional<uid_t> user,
                         const std::string& forwarded = "") {
    Request request = over_tcp("GET", "/v1/programs", {{"authorization", "Bearer wrong"}});
    request.peer = {std::nullopt, address, user};
    if (!forwarded.empty()) request.headers["x-forwarded-for"] = forwarded;
    return ask(request).status;
  };
  const auto lock_out = [&](const std::string& address, std::optional<uid_t> user,
                            const std::string& forwarded = "") {
    for (int i = 0; i <= Tries::free; ++i) wrong(address, user, forwarded);
    EXPECT_EQ(wrong(address, user, forwarded), 429);
  };
  lock_out("127.0.0.1", 1001);
  EXPECT_EQ(wrong("127.0.0.1", 1002), 401) << "another user of the machine";
  EXPECT_EQ(wrong("::1", 1001), 429) << "the same by another way";
  lock_out("10.0.0.1", std::nullopt, "203.0.113.9");
  EXPECT_EQ(wrong("10.0.0.1", std::nullopt, "203.0.113.10"), 401) << "another client of the proxy";
  EXPECT_EQ(wrong("10.0.0.1", std::nullopt, "203.0.113.10, 203.0.113.9"), 429)
      << "what stands before was said by the client";
  EXPECT_EQ(wrong("10.0.0.1", std::nullopt, "nonsense"), 401);
  lock_out("10.0.0.2", std::nullopt, "203.0.113.11");
  EXPECT_EQ(wrong("10.0.0.2", std::nullopt, "203.0.113.12"), 429) << "no proxy of ours";
  // One on the same machine is known by its user, whatever somebody else there says.
  lock_out("127.0.0.1", 33, "203.0.113.9");
  EXPECT_EQ(wrong("127.0.0.1", 1002, "203.0.113.9"), 401);
}

TEST_F(Entering, ALoginCountsFromWhereItWasBegun) {
  const auto at = [&](const std::string& cookie, Peer peer, const std::string& host = "") {
    Request request = over_tcp("GET", "/v1/programs", {{"cookie", cookie}});
    request.peer = std::move(peer);
    if (!host.empty()) request.headers["host"] = host;
    return ask(request).status;
  };
  const std::string local = cookie_of(ask(by_user(1000, opening(code()))));
  EXPECT_EQ(at(local, {std::nullopt, "127.0.0.1", 1000}), 200);
  EXPECT_EQ(at(local, {std::nullopt, "::1", 1000}), 200);
  for (const Peer& other : {Peer{std::nullopt, "127.0.0.1", 1001},
                            {std::nullopt, "127.0.0.1"},
                            {std::nullopt, "127.0.0.1", 0},
                            {std::nullopt, "192.168.1.7"}}) {
    EXPECT_EQ(at(local, other), 401) << other.address;
  }
  // Nor can it be ended from there.
  Request out = by_user(1001, over_tcp("POST", "/logout", {{"cookie", local}}));
  ask(out);
  EXPECT_EQ(at(local, {std::nullopt, "127.0.0.1", 1000}), 200);

  Request typed = form("token=" + operator_token);
  typed.peer = {std::nullopt, "192.168.1.7"};
  const std::string remote = cookie_of(ask(typed));
  EXPECT_EQ(at(remote, {std::nullopt, "192.168.1.7"}), 200);
  EXPECT_EQ(at(remote, {std::nullopt, "192.168.1.8"}), 401);

  // Over TLS it is kept to servers of that name by the browser, and proxies may be many.
  typed.headers["host"] = "train.example.org";
  typed.headers["origin"] = "https://train.example.org";
  const std::string secure = cookie_of(ask(typed));
  EXPECT_THAT(secure, StartsWith("__Host-"));
  EXPECT_EQ(at(secure, {std::nullopt, "192.168.1.8"}, "train.example.org"), 200);
}

TEST(WrongTries, WaitLongerAndLongerButNoMoreThanAMinute) {
  Tries tries;
  std::int64_t now = 0;
  std::int64_t before = 0;
  for (int i = 0; i < 40; ++i) {
    now += tries.wait_ms("10.0.0.1", now);
    tries.wrong("10.0.0.1", now);
    const std::int64_t wait = tries.wait_ms("10.0.0.1", now);
    EXPECT_GE(wait, before);
    EXPECT_LE(wait, Tries::longest_wait_ms);
    before = wait;
  }
  EXPECT_EQ(before, Tries::longest_wait_ms);
  EXPECT_EQ(tries.wait_ms("10.0.0.2", now), 0);
  tries.right("10.0.0.1");
  EXPECT_EQ(tries.wait_ms("10.0.0.1", now), 0);
}

TEST(Network, IsWhatOnePersonHas) {
  EXPECT_EQ(network_of("2001:db8::1"), network_of("2001:db8:0:0:ffff::2"));
  EXPECT_NE(network_of("2001:db8::1"), network_of("2001:db8:0:1::1"));
  for (const char* itself : {"10.0.0.1", "::ffff:10.0.0.1", "", "uid 1000"}) {
    EXPECT_EQ(network_of(itself), itself);
  }
}

TEST(WrongTries, OfOnePersonAndInBoundedMemory) {
  Tries tries;
  const auto place = [](const std::string& address) {
    return whence({.method = "GET", .path = "/", .peer = {std::nullopt, address}}, {});
  };
  for (int i = 0; i <= Tries::free; ++i) tries.wrong(place("2001:db8::" + std::to_string(i)), 0);
  EXPECT_GT(tries.wait_ms(place("2001:db8::ffff"), 0), 0);
  EXPECT_EQ(tries.wait_ms(place("2001:db8:0:1::1"), 0), 0);
  for (int i = 0; i < 5000; ++i) {
    tries.wrong("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250), i);
  }
  EXPECT_LE(tries.count(), Tries::most);
  tries.wrong("10.9.9.9", 2 * Tries::forgotten_after_ms);
  EXPECT_EQ(tries.count(), 1U);
}

TEST_F(Entering, ATokenThatIsTakenAwayEndsItsLogins) {
  const std::string anna = cookie_of(ask(form("token=" + viewer_token)));
  const std::string bert = cookie_of(ask(form("token=" + operator_token)));
  const std::string linked = cookie_of(ask(opening(code())));
  auto keys = two_keys();
  keys.erase(keys.begin());
  keys[0].role = Role::viewer;  // and bert may only look from now on
  access_.replace(Keys(keys));
  EXPECT_EQ(with_cookie(anna).status, 401);
  EXPECT_EQ(with_cookie(bert).status, 401);
  EXPECT_EQ(with_cookie(linked).status, 200);
}

// Streams in place of documents: each ends with what let its listener in, and with nothing else.
class Streaming : public Entering {
 protected:
  using Told = std::shared_ptr<Pipe>;
  Told listen(std::map<std::string, std::string> headers) {
    return told(over_tcp("GET", "/v1/stream", std::move(headers)));
  }
  Told told(const Request& request) {
    Told pipe;
    streams_(request, [&](const Response& response) { pipe = response.pipe; });
    EXPECT_TRUE(pipe);
    return pipe;
  }
  static std::map<std::string, std::string> bearing(const std::string& token) {
    return {{"authorization", "Bearer " + token}};
  }

  Handler streams_ = with_access(access_, [](const Request&, const Respond& respond) {
    respond(Response{.pipe = std::make_shared<Pipe>()});
  });
};

TEST_F(Streaming, EndsAtOnceWithTheLogout) {
  const std::string mine = cookie_of(ask(opening(code())));
  const std::string other = cookie_of(ask(opening(code())));
  const Told stream = listen({{"cookie", mine}});
  const Told others = listen({{"cookie", other}});
  bool heard = false;
  stream->attach([&] { heard = true; });
  EXPECT_TRUE(stream->send("news"));
  EXPECT_EQ(stream->take(), "news");
  heard = false;
  ask(over_tcp("POST", "/logout", {{"cookie", mine}}));
  EXPECT_TRUE(heard) << "the connection is told to end";
  EXPECT_TRUE(stream->ended());
  EXPECT_FALSE(stream->send("more"));
  EXPECT_EQ(stream->take(), "");
  EXPECT_TRUE(others->send("more"));
}

TEST_F(Streaming, EndsWithTheTokenThatItCameBy) {
  const Told anna = listen(bearing(viewer_token));
  const Told bert = listen(bearing(operator_token));
  const Told login = listen({{"cookie", cookie_of(ask(form("token=" + viewer_token)))}});
  const Told link = listen({{"cookie", cookie_of(ask(opening(code())))}});
  const Told local = told(over_unix("GET", "/v1/stream"));
  auto keys = two_keys();
  access_.replace(Keys(keys));
  for (const Told& stream : {anna, bert, login, link, local}) EXPECT_TRUE(stream->open());
  keys.erase(keys.begin());
  access_.replace(Keys(keys));
  EXPECT_TRUE(anna->ended());
  EXPECT_TRUE(login->ended());
  EXPECT_TRUE(bert->open());
  access_.replace(Keys());
  EXPECT_TRUE(bert->ended());
  EXPECT_TRUE(link->send("news"));
  EXPECT_TRUE(local->send("news"));
}

TEST_F(Streaming, EndsWhenTheLoginsTimeIsOverAndWhenAnotherTakesItsPlace) {
  const std::string mine = cookie_of(ask(opening(code())));
  const Told stream = listen({{"cookie", mine}});
  now_ms_ += Logins::lifetime_ms - 1;
  EXPECT_TRUE(stream->send(": heartbeat"));
  now_ms_ += 1;
  EXPECT_FALSE(stream->send(": heartbeat"));
  EXPECT_TRUE(stream->ended());

  const std::string first = cookie_of(ask(opening(code())));
  const Told before = listen({{"cookie", first}});
  Request again = opening(code());
  again.headers["cookie"] = first;
  ask(again);
  EXPECT_TRUE(before->ended());
}

TEST_F(Streaming, OfAnAnswerThatComesAfterTheLogoutNothingIsTold) {
  const std::string mine = cookie_of(ask(opening(code())));
  std::optional<Respond> later;
  const Handler slow =
      with_access(access_, [&](const Request&, const Respond& respond) { later.emplace(respond); });
  Told stream;
  slow(over_tcp("GET", "/v1/stream", {{"cookie", mine}}),
       [&](const Response& response) { stream = response.pipe; });
  ask(over_tcp("POST", "/logout", {{"cookie", mine}}));
  (*later)(Response{.pipe = std::make_shared<Pipe>()});
  ASSERT_TRUE(stream);
  EXPECT_TRUE(stream->ended());
}

TEST(LoggedIn, AreBoundedAndTheIdlestLeaves) {
  Logins logins;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < Logins::most; ++i) {
    ids.push_back(logins.begin({Role::viewer, "x"}, "", {}, static_cast<std::int64_t>(i)).value());
  }
  EXPECT_TRUE(logins.find(ids[0], "anywhere", 1000));
  const std::string last = logins.begin({Role::viewer, "x"}, "", {}, 1001).value();
  EXPECT_EQ(logins.count(), Logins::most);
  EXPECT_TRUE(logins.find(ids[0], "anywhere", 1002));
  EXPECT_FALSE(logins.find(ids[1], "anywhere", 1002));
  EXPECT_TRUE(logins.find(last, "anywhere", 1002));
}

TEST(SessionCookie, IsFoundAmongOthersAndNothingElseIs) {
  const std::string id(64, 'a');
  const std::string other(64, 'b');
  const auto ids = [](const std::string& cookie) {
    return session_ids(over_tcp("GET", "/", {{"cookie", cookie}}));
  };
  EXPECT_THAT(ids("a=b; trainward_session=" + id + ";c=d"), ElementsAre(id));
  EXPECT_THAT(ids("trainward_session=" + id + "; __Host-trainward_session=" + other),
              ElementsAre(other, id));
  for (const std::string& wrong :
       {std::string(), std::string(";;;="), "trainward_session=" + id + "0",
        "trainward_session=" + std::string(64, 'G'), "xtrainward_session=" + id,
        std::string("trainward_session")}) {
    EXPECT_THAT(ids(wrong), IsEmpty()) << wrong;
  }
  std::string many;
  for (int i = 0; i < 500; ++i) many += "trainward_session=" + id + ";";
  EXPECT_THAT(ids(many), SizeIs(8));
}

TEST(SessionCookie, AnyBytesAreReadWithoutHarm) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string alphabet = "trainward_session=; \t\"%ab01\x80\xff,";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t i = random() % 200; i > 0; --i) text += alphabet[random() % alphabet.size()];
    session_ids(over_tcp("GET", "/", {{"cookie", text}}));
    form_fields(text);
  }
}

TEST(SessionCookie, IsSecureWhereTheBrowserSpeaksTls) {
  const auto tls = [](std::map<std::string, std::string> headers) {
    return is_behind_tls(over_tcp("GET", "/login", std::move(headers)));
  };
  EXPECT_FALSE(tls({}));
  EXPECT_FALSE(tls({{"sec-fetch-site", "none"}}));  // of localhost without TLS, too
  EXPECT_FALSE(tls({{"x-forwarded-proto", "https"}, {"host", "train.example.org"}}));
  EXPECT_TRUE(tls({{"host", "train.example.org"}, {"sec-fetch-site", "none"}}));
  EXPECT_TRUE(tls({{"host", "train.example.org"}, {"origin", "https://train.example.org"}}));
  EXPECT_FALSE(tls({{"host", "train.example.org"}, {"origin", "http://train.example.org"}}));
  EXPECT_THAT(session_cookie("x", true),
              AllOf(StartsWith("__Host-trainward_session=x; Path=/;"), HasSubstr("; Secure")));
}

TEST_F(Entering, APersonSeesAPageAndAProgramADocument) {
  const Response page = ask(over_tcp("GET", "/programs/run", {{"accept", "text/html,*/*"}}));
  EXPECT_EQ(page.status, 401);
  EXPECT_THAT(page.content_type, StartsWith("text/html"));
  EXPECT_THAT(page.body, AllOf(HasSubstr("<form method=\"post\" action=\"/login\">"),
                               Not(HasSubstr("<script")), Not(HasSubstr("style"))));
  EXPECT_EQ(ask(over_tcp("GET", "/v1/programs")).content_type.find("text/html"), std::string::npos);
  access_.replace(Keys());
  EXPECT_THAT(ask(over_tcp("GET", "/login")).body,
              AllOf(HasSubstr("trainwardctl open"), Not(HasSubstr("<form"))));
}

}  // namespace
}  // namespace trainward::api
