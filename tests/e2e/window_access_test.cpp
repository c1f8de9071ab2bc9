// Who comes in over the network, and who does not: the real daemon, asked byte by byte over
// loopback on a port that the kernel chooses.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/fd.hpp"
#include "common/os/pipe.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string viewer_token = "viewer-secret-0123456789abcdefghijk";
const std::string operator_token = "operator-secret-0123456789abcdefghi";
const std::string idle_program = "programs:\n  run: {command: [/usr/bin/tail, -f, /dev/null]}\n";

// Everything that reads, and everything that changes something.
const std::vector<std::string> readers{"/v1/version",
                                       "/v1/programs",
                                       "/v1/programs/run/history",
                                       "/v1/history",
                                       "/v1/programs/run/why",
                                       "/v1/programs/run/report",
                                       "/v1/programs/run/checkpoints",
                                       "/v1/programs/run/evaluations",
                                       "/v1/programs/run/samples",
                                       "/v1/programs/run/compiled",
                                       "/v1/programs/run/events",
                                       "/v1/events",
                                       "/v1/programs/run/log",
                                       "/v1/log",
                                       "/v1/boards",
                                       "/v1/boards/A/samples",
                                       "/v1/probe",
                                       "/v1/available",
                                       "/v1/openapi.json"};
const std::vector<std::string> changers{"/v1/programs/run/start",
                                        "/v1/programs/run/stop",
                                        "/v1/programs/run/restart",
                                        "/v1/programs/start",
                                        "/v1/programs/stop",
                                        "/v1/programs/restart",
                                        "/v1/programs/run/signal?number=10",
                                        "/v1/programs/run/clear",
                                        "/v1/reread",
                                        "/v1/update",
                                        "/v1/programs/run/update",
                                        "/v1/programs/run/add",
                                        "/v1/programs/run/remove",
                                        "/v1/reload",
                                        "/v1/upgrade",
                                        "/v1/shutdown",
                                        "/v1/probe",
                                        "/v1/login-link",
                                        "/v1/programs/run/login-link"};

struct Reply {
  int status = 0;
  std::string head;
  std::string body;
};

class WindowAccess : public World {
 protected:
  void write_private(const std::string& name, const std::string& text) {
    write(name, text);
    ASSERT_EQ(::chmod(path(name).c_str(), 0600), 0);
  }
  // With both tokens, on a port of loopback, until its program runs.
  pid_t start_window(const std::string& more = "") {
    write_private("viewers", "anna " + viewer_token + "\n");
    write_private("operators", "bert " + operator_token + "\n");
    write("run.yaml", "listen: 127.0.0.1:0\ntokens: {viewer: viewers, operator: operators}\n" +
                          more + idle_program);
    return start_and_wait();
  }
  pid_t start_and_wait() {
    const pid_t daemon = start_daemon({"run.yaml"});
    wait_until([&] { return ctl({"version"}).code == 0; });
    wait_until([&] { return ctl({"pid", "run"}).code == 0; });
    port_ = port_of(link());
    return daemon;
  }
  std::string link(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"open", "--url"};
    words.insert(words.end(), options.begin(), options.end());
    const Output output = ctl(words);
    EXPECT_EQ(output.code, 0) << output.err;
    seen_ += output.err;
    return std::string(trim(output.out));
  }
  static int port_of(const std::string& url) {
    const auto colon = url.find(':', 7);
    return colon == std::string::npos ? 0 : std::atoi(url.c_str() + colon + 1);
  }
  static std::string code_of(const std::string& url) { return url.substr(url.find('=') + 1); }

  // Over TCP, with these headers beside Host; "Host: …" among them replaces it.
  Reply ask(const std::string& method, const std::string& target,
            const std::vector<std::string>& headers = {}, const std::string& body = "") {
    std::string text = method + " " + target + " HTTP/1.1\r\nConnection: close\r\n";
    const bool has_host = std::any_of(headers.begin(), headers.end(), [](const std::string& line) {
      return line.starts_with("Host:");
    });
    if (!has_host) text += fmt::format("Host: 127.0.0.1:{}\r\n", port_);
    for (const std::string& line : headers) text += line + "\r\n";
    if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
    return send_raw(text + "\r\n" + body);
  }
  Fd connected() const {
    Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      return {};
    }
    return client;
  }
  // A stream that has been begun.
  Fd listening(const std::string& header) const {
    Fd client = connected();
    const std::string request =
        fmt::format("GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n\r\n", port_, header);
    (void)::send(client.get(), request.data(), request.size(), MSG_NOSIGNAL);
    EXPECT_TRUE(comes(client, "event: hello"));
    return client;
  }
  // Whether this comes before the end.
  static bool comes(const Fd& client, const std::string& wanted) {
    std::string all;
    while (all.find(wanted) == std::string::npos) {
      std::array<char, 4096> part{};
      const ssize_t got = ::recv(client.get(), part.data(), part.size(), 0);
      if (got <= 0) return false;
      all.append(part.data(), static_cast<std::size_t>(got));
    }
    return true;
  }
  // A stream that goes on has its next heartbeat within 15 s.
  static bool ends(const Fd& client) { return !comes(client, "\n:\n"); }
  Reply send_raw(const std::string& text) {
    const Fd client = connected();
    if (!client) return {};
    (void)::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL);
    std::string all;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::recv(client.get(), part.data(), part.size(), 0)) > 0;) {
      all.append(part.data(), static_cast<std::size_t>(got));
    }
    seen_ += all;
    Reply reply;
    if (all.starts_with("HTTP/1.1 ")) reply.status = std::atoi(all.c_str() + 9);
    const auto end = std::min(all.find("\r\n\r\n"), all.size());
    reply.head = lower_case(all.substr(0, end));
    reply.body = all.substr(std::min(end + 4, all.size()));
    return reply;
  }
  static constexpr uid_t nobody = 65534;
  // The status that a process of this user is answered with; it waits for that, or is gone at once.
  int status_as(uid_t user, const std::string& method, const std::string& target,
                const std::vector<std::string>& headers, bool wait = true) {
    auto told = make_pipe().value();
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) ::_exit(1);
      int status = 0;
      if (wait) {
        status = ask(method, target, headers).status;
      } else {
        const Fd client = connected();
        std::string text =
            fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", method, target, port_);
        for (const std::string& line : headers) text += line + "\r\n";
        (void)::send(client.get(), (text + "\r\n").data(), text.size() + 2, MSG_NOSIGNAL);
      }
      (void)!::write(told.write.get(), &status, sizeof(status));
      ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::read(told.read.get(), &status, sizeof(status)), ssize_t{sizeof(status)});
    ::waitpid(pid, nullptr, 0);
    return status;
  }
  static std::string as(const std::string& token) { return "Authorization: Bearer " + token; }
  // What a program of one's own sends, which no foreign page can.
  inline static const std::string by_a_program = "X-Trainward: 1";

  static std::string cookie_in(const Reply& reply) {
    const auto begin = reply.head.find("set-cookie: ");
    if (begin == std::string::npos) return "Cookie: none=";
    const auto end = reply.head.find(';', begin);
    return "Cookie: " + reply.head.substr(begin + 12, end - begin - 12);
  }
  // Of somebody who has typed the operator's token.
  std::string log_in_header() {
    const Reply in = ask("POST", "/login",
                         {"Content-Type: application/x-www-form-urlencoded",
                          fmt::format("Origin: http://127.0.0.1:{}", port_)},
                         "token=" + operator_token);
    EXPECT_EQ(in.status, 303) << in.body;
    return cookie_in(in);
  }

  // What is on record, as far as somebody's request could have changed it.
  std::string record() {
    return ctl({"events", "-n", "100000", "--json"}).out + ctl({"history", "--json"}).out;
  }

  int port_ = 0;
  std::string seen_;  // every answer so far
};

TEST_F(WindowAccess, WithoutTokensNoOtherMachineIsServed) {
  for (const char* address : {"0.0.0.0:0", "'[::]:0'", "192.0.2.1:0"}) {
    write("run.yaml", std::string("listen: ") + address + "\n" + idle_program);
    const Output refused = run("trainwardd", {"run.yaml"});
    EXPECT_EQ(refused.code, 78) << address;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("run.yaml:1:9: listen: "), HasSubstr("tokens")));
  }
}

TEST_F(WindowAccess, AnAddressThatIsNewAndTakenIsSaidBeforeAReload) {
  const Fd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(other.get(), 1), 0);
  ASSERT_EQ(::getsockname(other.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string taken = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
  write("run.yaml", idle_program);
  start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  write("run.yaml", "listen: " + taken + "\n" + idle_program);
  const Output reload = ctl({"reload"});
  EXPECT_EQ(reload.code, 1);
  EXPECT_THAT(reload.err, AllOf(HasSubstr(taken), HasSubstr("in use"), HasSubstr("ss -ltnp")));
  const Output upgrade = ctl({"upgrade"});
  EXPECT_EQ(upgrade.code, 1) << upgrade.out;
  EXPECT_THAT(upgrade.err, HasSubstr(taken));
  EXPECT_EQ(ctl({"version"}).code, 0);
}

TEST_F(WindowAccess, NobodyIsServedWithoutAWord) {
  start_window();
  const std::string before = record();
  for (const std::string& target : readers) {
    EXPECT_EQ(ask("GET", target).status, 401) << target;
    EXPECT_EQ(ask("HEAD", target).status, 401) << target;
  }
  for (const std::string& target : changers) {
    const Reply reply = ask("POST", target, {by_a_program});
    EXPECT_EQ(reply.status, 401) << target;
    EXPECT_THAT(reply.head, HasSubstr("www-authenticate: bearer"));
  }
  EXPECT_EQ(record(), before);
  EXPECT_EQ(ask("GET", "/v1/stream").status, 401);
  EXPECT_EQ(ask("GET", "/login").status, 200);
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(WindowAccess, AViewerLooksAndChangesNothing) {
  start_window();
  const std::string before = record();
  for (const std::string& target : readers) {
    if (target == "/v1/boards/A/samples" || target == "/v1/probe") continue;  // 404: there is none
    EXPECT_EQ(ask("GET", target, {as(viewer_token)}).status, 200) << target;
  }
  for (const std::string& target : changers) {
    EXPECT_EQ(ask("POST", target, {as(viewer_token), by_a_program}).status, 403) << target;
  }
  EXPECT_EQ(record(), before) << "a GET, or a viewer, changed something";
}

TEST_F(WindowAccess, WhoStoppedItStandsInTheEvent) {
  start_window();
  EXPECT_EQ(ask("POST", "/v1/programs/run/stop", {as(operator_token), by_a_program}).status, 200);
  EXPECT_EQ(state(), "STOPPED");
  const std::string events = ctl({"events", "--json"}).out;
  EXPECT_THAT(events, HasSubstr("asked to stop by token bert; SIGTERM sent"));
  EXPECT_THAT(events, HasSubstr(R"("by":"token bert")"));
  EXPECT_EQ(ctl({"start", "run"}).code, 0);
  EXPECT_THAT(ctl({"events", "--json"}).out,
              HasSubstr(fmt::format("start requested by uid {}", ::getuid())));
}

TEST_F(WindowAccess, OtherNamesAreRefusedWhoeverAsks) {
  start_window("hosts: train.example.org\n");
  for (const std::string host : {"evil.test", "evil.test:8420", "127.0.0.1.evil.test",
                                 "localhost.evil.test", "[::2]", "train.example.org.evil.test"}) {
    for (const std::string agent : {"Mozilla/5.0", "curl/8", "trainwardctl/1"}) {
      for (const std::string method : {"GET", "HEAD", "POST"}) {
        const Reply reply =
            ask(method, "/v1/programs",
                {"Host: " + host, "User-Agent: " + agent, as(operator_token), by_a_program});
        EXPECT_EQ(reply.status, 403) << host << " " << agent << " " << method;
      }
    }
    EXPECT_THAT(ask("GET", "/login", {"Host: " + host}).body,
                AllOf(HasSubstr(host), HasSubstr("hosts:")));
  }
  for (const std::string host : {"LOCALHOST:1", "127.0.0.1", "[::1]:9", "Train.Example.org:443"}) {
    EXPECT_EQ(ask("GET", "/v1/programs", {"Host: " + host, as(viewer_token)}).status, 200) << host;
  }
}

TEST_F(WindowAccess, PagesOfOthersAreRefusedByEveryVerb) {
  start_window();
  const std::string before = record();
  const std::string cookie = log_in_header();
  for (const std::string method :
       {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "MOVE", "get"}) {
    for (const std::vector<std::string>& headers :
         {std::vector<std::string>{"Origin: http://evil.test"},
          {"Origin: null"},
          {"Origin: https://127.0.0.1.evil.test"},
          {"Sec-Fetch-Site: cross-site"},
          {"Sec-Fetch-Site: same-site"},
          {fmt::format("Origin: http://127.0.0.1:{}", port_ + 1)}}) {
      auto all = headers;
      all.push_back(cookie);
      all.emplace_back("Content-Type: text/plain");
      const Reply reply = ask(method, "/v1/programs/run/stop", all);
      EXPECT_THAT(reply.status, testing::AnyOf(400, 403, 405, 501)) << method << headers[0];
      EXPECT_THAT(reply.head, Not(HasSubstr("access-control-"))) << method;
    }
  }
  const Reply preflight = ask("OPTIONS", "/v1/programs/run/stop",
                              {"Origin: http://evil.test", "Access-Control-Request-Method: POST",
                               "Access-Control-Request-Headers: x-trainward"});
  EXPECT_NE(preflight.status, 200);
  EXPECT_THAT(preflight.head, Not(HasSubstr("access-control-")));
  // A form, which needs no asking first, is not enough either.
  EXPECT_EQ(ask("POST", "/v1/programs/run/stop",
                {cookie, "Content-Type: application/x-www-form-urlencoded"}, "a=b")
                .status,
            403);
  EXPECT_EQ(record(), before);
  EXPECT_EQ(ask("POST", "/v1/programs/run/stop", {cookie, by_a_program}).status, 200);
}

TEST_F(WindowAccess, ACookieIsOfNoUseToAnotherUserOfTheMachine) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be somebody else";
  start_window();
  const std::string cookie = cookie_in(ask("GET", "/login?code=" + code_of(link())));
  EXPECT_EQ(ask("GET", "/v1/programs", {cookie}).status, 200);
  EXPECT_EQ(status_as(nobody, "GET", "/v1/programs", {cookie}), 401);
  EXPECT_EQ(status_as(nobody, "POST", "/v1/programs/run/stop", {cookie, by_a_program}), 401);
  EXPECT_EQ(status_as(nobody, "POST", "/logout", {cookie, by_a_program}), 303);
  EXPECT_EQ(ask("GET", "/v1/programs", {cookie}).status, 200) << "not even to end it";
  // Who is gone before he is looked at is not taken for root.
  for (int i = 0; i < 50; ++i) {
    status_as(nobody, "POST", "/v1/programs/run/stop", {cookie, by_a_program}, false);
  }
  EXPECT_EQ(state(), "RUNNING");
}

TEST_F(WindowAccess, NobodyIsLockedOutByAnotherUserOfTheMachine) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be somebody else";
  start_window();
  const std::string wrong = as(operator_token + "wrong");
  for (int i = 0; i < 12; ++i) status_as(nobody, "GET", "/v1/programs", {wrong});
  EXPECT_EQ(status_as(nobody, "GET", "/v1/programs", {wrong}), 429);
  EXPECT_EQ(status_as(nobody, "GET", "/v1/programs", {as(viewer_token)}), 200) << "a right one";
  for (int i = 0; i < 12; ++i) status_as(nobody, "GET", "/v1/programs", {wrong});
  EXPECT_EQ(ask("GET", "/v1/programs", {wrong}).status, 401) << "counted for himself alone";
  EXPECT_EQ(ask("GET", "/v1/programs", {as(operator_token)}).status, 200);
  EXPECT_EQ(ask("GET", "/login?code=" + code_of(link())).status, 303);
}

TEST_F(WindowAccess, ALinkWorksOnceAndForThePersonAlone) {
  start_window();
  const std::string url = link({"run", "--viewer"});
  const std::string target = "/login?code=" + code_of(url);
  EXPECT_EQ(ask("GET", target, {"Sec-Purpose: prefetch"}).status, 403);
  const Reply in = ask("GET", target);
  EXPECT_EQ(in.status, 303);
  EXPECT_THAT(in.head, AllOf(HasSubstr("location: /programs/run"), HasSubstr("httponly"),
                             HasSubstr("samesite=strict")));
  EXPECT_EQ(ask("GET", target).status, 403);
  const std::string cookie = cookie_in(in);
  EXPECT_EQ(ask("GET", "/v1/programs", {cookie}).status, 200);
  EXPECT_EQ(ask("POST", "/v1/programs/run/stop", {cookie, by_a_program}).status, 403);
  EXPECT_EQ(ask("POST", "/logout", {cookie, by_a_program}).status, 303);
  EXPECT_EQ(ask("GET", "/v1/programs", {cookie}).status, 401);
  EXPECT_EQ(ctl({"open", "nope"}).code, 1);
  // Nobody from elsewhere makes links, whatever he may do.
  EXPECT_EQ(ask("POST", "/v1/login-link", {as(operator_token), by_a_program}).status, 403);
}

TEST_F(WindowAccess, WhereNobodyListensOpenSaysWhatToDo) {
  write("run.yaml", idle_program);
  start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  const Output output = ctl({"open"});
  EXPECT_EQ(output.code, 1);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, AllOf(HasSubstr("listen: 127.0.0.1:8420"), HasSubstr("ssh -N -L"),
                                HasSubstr("trainward.sock")));
}

TEST_F(WindowAccess, NamesInAPathLeadNowhere) {
  start_window();
  for (const std::string name :
       {"..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%252e%252e", "....//", "..%5c..%5cwindows",
        "%00", "run%00", "file:%2f%2f%2fetc%2fpasswd", "%2fetc%2fpasswd", "C:%5cboot.ini",
        "run%0d%0aX-Injected:1", "%ff%fe", "run%23fragment", "run%3fquery", "~root", "$HOME",
        "%c0%ae%c0%ae"}) {
    for (const std::string form :
         {"/v1/programs/{}/log", "/v1/programs/{}/why", "/v1/programs/{}/events", "/v1/{}/programs",
          "/v1/boards/{}/samples", "/{}", "/assets/{}", "/programs/{}", "/login/{}"}) {
      const Reply reply = ask("GET", fmt::format(fmt::runtime(form), name), {as(operator_token)});
      // Events of a program that is not here (any more) are none.
      const bool nothing = form.ends_with("/events") && reply.status == 200 && reply.body == "[]\n";
      EXPECT_TRUE(nothing || reply.status == 400 || reply.status == 404)
          << form << " " << name << " " << reply.status << " " << reply.body;
      EXPECT_THAT(reply.body, Not(HasSubstr("root:x:"))) << form << " " << name;
      EXPECT_THAT(reply.head, Not(HasSubstr("\nx-injected"))) << form << " " << name;
    }
  }
}

// As systemd hands sockets over.
TEST_F(WindowAccess, ASocketHandedOverIsServedAlsoAfterAReload) {
  const auto hand_over = [&](in_addr_t where) {
    const Fd made(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(where);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(made.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(made.get(), 16), 0);
    EXPECT_EQ(::getsockname(made.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    return Fd(::fcntl(made.get(), F_DUPFD, 20));  // for the shell to move to 3
  };
  const auto command = [](int socket) {
    return std::vector<std::string>{
        "/bin/bash", "-c",
        fmt::format("exec 3<&{0} {0}<&-; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" run.yaml", socket),
        World::program("trainwardd")};
  };
  write("run.yaml", idle_program);
  {
    const Fd everywhere = hand_over(INADDR_ANY);
    const pid_t daemon = start(command(everywhere.get()));
    wait_until([&] { return ctl({"pid", "run"}).code == 0; });
    EXPECT_THAT(ctl({"status"}).err, AllOf(HasSubstr("handed over"), HasSubstr("tokens")));
    EXPECT_THAT(ctl({"version", "--json"}).out, Not(HasSubstr("http://0.0.0.0")));
    ask_to_end(daemon);
    EXPECT_EQ(end_of(daemon), 0);
  }
  Fd here = hand_over(INADDR_LOOPBACK);
  start(command(here.get()));
  here.reset();
  wait_until([&] { return ctl({"version"}).code == 0; });
  EXPECT_EQ(ask("GET", "/v1/programs").status, 401);
  EXPECT_EQ(ask("GET", "/login?code=" + code_of(link())).status, 303);
  EXPECT_EQ(ctl({"reload"}).code, 0);
  EXPECT_EQ(ask("GET", "/login?code=" + code_of(link())).status, 303);
}

// The daemon and its programs listen where they were told to, and nowhere else.
TEST_F(WindowAccess, NothingElseListens) {
  const pid_t daemon = start_window();
  std::set<std::string> inodes;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", daemon))) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry, gone).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  std::vector<std::string> listening;
  for (const char* table : {"tcp", "tcp6", "udp", "udp6"}) {
    std::ifstream in(fmt::format("/proc/{}/net/{}", daemon, table));
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string number, local, remote, mode, queues, timer, retransmitted, user, timeout, inode;
      words >> number >> local >> remote >> mode >> queues >> timer >> retransmitted >> user >>
          timeout >> inode;
      if (inodes.contains(inode))
        listening.push_back(std::string(table) + " " + local + " " + mode);
    }
  }
  EXPECT_THAT(listening, testing::ElementsAre(fmt::format("tcp 0100007F:{:04X} 0A", port_)));
  EXPECT_THAT(ctl({"version", "--json"}).out + ask("GET", "/v1/version", {as(viewer_token)}).body,
              HasSubstr(fmt::format("http://127.0.0.1:{}", port_)));
}

TEST_F(WindowAccess, NoSecretIsToldToAnybody) {
  const pid_t daemon = start_window("log_level: debug\n");
  const std::string code = code_of(link());
  const Reply in = ask("GET", "/login?code=" + code);
  const std::string cookie = cookie_in(in);
  const std::string id = cookie.substr(cookie.find('=') + 1);
  seen_.clear();
  ask("GET", "/login?code=" + code);
  for (const std::string& target : readers) {
    ask("GET", target, {as(operator_token)});
    ask("GET", target, {cookie});
    ask("GET", target + "?token=x", {as(operator_token + "wrong")});
  }
  ask("POST", "/login", {"Content-Type: application/x-www-form-urlencoded", by_a_program},
      "token=" + operator_token + "1");
  ask("POST", "/v1/programs/run/restart", {as(operator_token), by_a_program});
  ask("POST", "/v1/programs/run/stop", {cookie, by_a_program});
  EXPECT_EQ(ctl({"update"}).code, 0);
  for (const std::string command : {"events", "status", "maintail", "history", "report"}) {
    const Output output = ctl({command});
    seen_ += output.out + output.err;
  }
  const Output config = ctl({"config", "show", "run", "run.yaml"});
  seen_ += config.out + config.err + ctl({"config", "check", "run.yaml"}).out + daemon_log();
  ask_to_end(daemon);
  end_of(daemon);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path(".trainward"))) {
    if (entry.is_regular_file()) seen_ += read_file(entry.path(), 64 << 20).value_or("");
  }
  seen_ += daemon_log();
  for (const std::string& secret : {viewer_token, operator_token, code, id}) {
    ASSERT_GE(secret.size(), 32U);
    EXPECT_EQ(seen_.find(secret), std::string::npos) << secret;
  }
}

TEST_F(WindowAccess, TokensAreReadAgainByAnUpdateAndListenersByAReload) {
  start_window();
  const std::string cookie = log_in_header();
  const std::string fresh = "fresh-secret-0123456789abcdefghijklmn";
  write_private("operators", "carl " + fresh + "\n");
  EXPECT_EQ(ask("GET", "/v1/programs", {as(fresh)}).status, 401);
  EXPECT_EQ(ctl({"update"}).code, 0);
  EXPECT_EQ(ask("GET", "/v1/programs", {as(fresh)}).status, 200);
  EXPECT_EQ(ask("GET", "/v1/programs", {as(operator_token)}).status, 401);
  EXPECT_EQ(ask("GET", "/v1/programs", {cookie}).status, 401) << "its token is gone";

  write("operators", "carl " + fresh + "\n");
  ASSERT_EQ(::chmod(path("operators").c_str(), 0644), 0);
  EXPECT_NE(ctl({"reload"}).code, 0);
  EXPECT_EQ(ask("GET", "/v1/programs", {as(fresh)}).status, 200) << "nothing was changed";

  write("run.yaml", idle_program);
  EXPECT_EQ(ctl({"reload"}).code, 0);
  EXPECT_EQ(ask("GET", "/login").status, 0) << "it still listens";
  EXPECT_EQ(ctl({"pid", "run"}).code, 0);
}

TEST_F(WindowAccess, AStreamEndsWithTheLoginOrTheTokenThatItCameBy) {
  start_window();
  const std::string cookie = log_in_header();
  const Fd by_login = listening(cookie);
  const Fd by_token = listening(as(operator_token));
  const Fd viewer = listening(as(viewer_token));
  EXPECT_EQ(ask("POST", "/logout", {cookie, by_a_program}).status, 303);
  EXPECT_TRUE(ends(by_login));
  write_private("operators", "carl fresh-secret-0123456789abcdefghijklmn\n");
  EXPECT_EQ(ctl({"update"}).code, 0);
  EXPECT_TRUE(ends(by_token));
  EXPECT_TRUE(comes(viewer, "is read again")) << "its token is as it was";
}

}  // namespace
}  // namespace trainward::e2e
