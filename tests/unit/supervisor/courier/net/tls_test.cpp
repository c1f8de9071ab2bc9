#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/os/fd.hpp"
#include "shell.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "temporary_folder.hpp"

namespace trainward::net {
namespace {

// `openssl s_server`, which answers any GET with a page about the connection.
class TlsServer {
 public:
  TlsServer(const std::string& certificate, const std::string& key, const std::string& protocol) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return;
    output_ = Fd(pipe[0]);
    Fd theirs(pipe[1]);
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), 2);
    posix_spawn_file_actions_addclose(&actions, output_.get());
    std::vector<std::string> words = {"openssl", "s_server",  "-accept", "127.0.0.1:0", "-www",
                                      "-cert",   certificate, "-key",    key,           protocol};
    if (protocol == "-tls1_1") words.insert(words.end(), {"-cipher", "ALL:@SECLEVEL=0"});
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::posix_spawnp(&pid_, "openssl", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    theirs.reset();
    port_ = announced_port();
  }
  ~TlsServer() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  [[nodiscard]] std::string url(const std::string& host) const {
    return "https://" + host + ":" + port_ + "/T0pSecr3t";
  }

 private:
  // Says "ACCEPT 127.0.0.1:41234" when it listens.
  std::string announced_port() {
    std::string said;
    char c = 0;
    while (::read(output_.get(), &c, 1) == 1) {
      said.push_back(c);
      const std::size_t at = said.find("ACCEPT 127.0.0.1:");
      if (at != std::string::npos && c == '\n') return said.substr(at + 17, said.size() - at - 18);
    }
    return "";
  }

  Fd output_;
  pid_t pid_ = 0;
  std::string port_;
};

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    if (test::shell("openssl version 2>&1").code != 0) GTEST_SKIP() << "no openssl here";
    make("good", "-days 2 -addext subjectAltName=DNS:localhost,IP:127.0.0.1");
  }
  void make(const std::string& name, const std::string& options) const {
    const auto made = test::shell(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
        "-nodes -subj /CN=localhost -keyout " +
        file(name + ".key") + " -out " + file(name + ".pem") + " " + options + " 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
  }
  // Of a time that is not now, which only `openssl ca` makes.
  void make_dated(const std::string& name, const std::string& from,
                  const std::string& until) const {
    (void)folder_.write("ca",
                        "[ca]\ndefault_ca=d\n[d]\nnew_certs_dir=.\ndatabase=index\nserial=serial\n"
                        "default_md=sha256\npolicy=p\nx509_extensions=v\n[p]\n"
                        "commonName=supplied\n[v]\nsubjectAltName=IP:127.0.0.1\n");
    (void)folder_.write("index", "");
    (void)folder_.write("serial", "01\n");
    const auto made = test::shell(
        "cd " + folder_.path().string() +
        " && openssl req -new -key good.key -subj /CN=x -out csr 2>&1 && "
        "openssl ca -config ca -batch -selfsign -notext -keyfile good.key -in csr -startdate " +
        from + " -enddate " + until + " -out " + name + " 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  Result<Answer> get(const TlsServer& server, const std::string& trusted,
                     const std::string& host = "127.0.0.1") const {
    HttpClient client({.certificates = trusted.empty() ? "" : file(trusted)});
    auto answer = client.send({.url = server.url(host), .total_ms = 10'000});
    if (!answer) {
      EXPECT_FALSE(client.request_was_sent());
      EXPECT_THAT(answer.error().message(), testing::Not(testing::HasSubstr("T0pSecr3t")));
    }
    return answer;
  }

  TemporaryFolder folder_;
};

TEST_F(Tls, AServerThatIsTrustedIsSpokenTo) {
  const TlsServer server(file("good.pem"), file("good.key"), "-tls1_2");
  const auto answer = get(server, "good.pem");
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->status, 200);
}

TEST_F(Tls, OneThatIsNotTrustedIsSentNothing) {
  const TlsServer server(file("good.pem"), file("good.key"), "-tls1_3");
  make("other", "-days 2");
  for (const char* trusted : {"", "other.pem"}) {
    const auto answer = get(server, trusted);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, ErrorKind::permanent);
    EXPECT_THAT(answer.error().what, testing::HasSubstr("signed by"));
  }
}

TEST_F(Tls, TheNameCounts) {
  make("elsewhere", "-days 2 -addext subjectAltName=DNS:elsewhere.example");
  const TlsServer server(file("elsewhere.pem"), file("elsewhere.key"), "-tls1_3");
  const auto answer = get(server, "elsewhere.pem");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::permanent);
}

TEST_F(Tls, ACertificateOfAnotherTimeSaysSo) {
  ASSERT_NO_FATAL_FAILURE(make_dated("old.pem", "20200101000000Z", "20210101000000Z"));
  ASSERT_NO_FATAL_FAILURE(make_dated("new.pem", "20900101000000Z", "20910101000000Z"));
  for (const auto& [name, word] : {std::pair("old.pem", "expired"), std::pair("new.pem", "yet")}) {
    const TlsServer server(file(name), file("good.key"), "-tls1_3");
    const auto answer = get(server, name);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, ErrorKind::permanent);
    EXPECT_THAT(answer.error().what, testing::HasSubstr(word));
    EXPECT_THAT(answer.error().hint, testing::HasSubstr("clock"));
  }
}

TEST_F(Tls, OlderThanTwelveIsRefused) {
  const TlsServer server(file("good.pem"), file("good.key"), "-tls1_1");
  const auto answer = get(server, "good.pem");
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message(), testing::HasSubstr("TLS 1.2"));
}

TEST_F(Tls, AFileOfCertificatesThatIsNotThereIsNamedAsTheReason) {
  const TlsServer server(file("good.pem"), file("good.key"), "-tls1_3");
  const auto answer = get(server, "missing.pem");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::permanent);
  EXPECT_THAT(answer.error().what, testing::HasSubstr("trusted certificates"));
}

}  // namespace
}  // namespace trainward::net
