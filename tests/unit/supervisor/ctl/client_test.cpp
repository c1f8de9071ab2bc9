#include "supervisor/ctl/client/client.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "fake_daemon.hpp"
#include "fixture.hpp"

namespace trainward::ctl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ClientTest : public CtlTest {
 protected:
  [[nodiscard]] Reply<json::value> get(const std::string& target) const {
    return Client(socket()).document(Method::get, target, 10s);
  }
};

TEST_F(ClientTest, ADocument) {
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/version", R"({"api":1})");
  const auto reply = get("/v1/version");
  ASSERT_TRUE(reply.has_value()) << reply.error().error.message();
  EXPECT_EQ(reply->at("api").as_int64(), 1);
}

TEST_F(ClientTest, HeadersAreFoundInLowerCase) {
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/x", {200, "bytes", "X-Log-Size: 17\r\n", false});
  const auto reply = Client(socket()).request(Method::get, "/v1/x", 10s);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->headers.at("x-log-size"), "17");
  EXPECT_EQ(reply->body, "bytes");
}

TEST_F(ClientTest, TheDaemonsErrorComesThrough) {
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/x", {404,
                               R"({"error":{"kind":"usage","what":"no such program: x",
                                   "where":"x","hint":"look"}})",
                               "", false});
  const auto reply = get("/v1/x");
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().trouble, Trouble::answered);
  EXPECT_EQ(reply.error().status, 404);
  EXPECT_EQ(reply.error().error.what, "no such program: x");
  EXPECT_EQ(reply.error().error.kind, ErrorKind::usage);
}

TEST_F(ClientTest, AProblemDocumentOfAProxyIsAnAnswer) {
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/x", {502, R"({"title":"Bad Gateway","detail":"no daemon behind it"})",
                               "Content-Type: application/problem+json\r\n", false});
  const auto reply = get("/v1/x");
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().trouble, Trouble::answered);
  EXPECT_EQ(reply.error().status, 502);
  EXPECT_EQ(reply.error().error.what, "no daemon behind it");
  EXPECT_EQ(reply.error().error.kind, ErrorKind::transient);
}

TEST_F(ClientTest, NonsenseIsGarbled) {
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/a", "{\"half\":");
  daemon.answers("GET /v1/b", {500, "<html>", "", false});
  daemon.answers("GET /v1/c", std::string(100, '['));
  for (const char* target : {"/v1/a", "/v1/b", "/v1/c"}) {
    const auto reply = get(target);
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().trouble, Trouble::garbled) << target;
  }
}

TEST_F(ClientTest, AnEndlessAnswerIsCutOff) {
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/x", std::string((16 << 20) + 1, ' '));
  const auto reply = get("/v1/x");
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().trouble, Trouble::garbled);
  EXPECT_THAT(reply.error().error.what, HasSubstr("longer than"));
}

TEST_F(ClientTest, NoSocketNoDaemon) {
  EXPECT_EQ(get("/v1/x").error().trouble, Trouble::missing);
  EXPECT_EQ(Client(folder_ / "none" / "a.sock").document(Method::get, "/v1/x", 1s).error().trouble,
            Trouble::missing);
}

TEST_F(ClientTest, AStaleSocketRefuses) {
  { FakeDaemon daemon(socket()); }
  ASSERT_TRUE(std::filesystem::exists(socket()));
  const auto reply = get("/v1/x");
  EXPECT_EQ(reply.error().trouble, Trouble::refused);
  EXPECT_EQ(reply.error().error.what, "trainwardd is not running");
}

TEST_F(ClientTest, ASilentDaemonRunsIntoTheDeadline) {
  FakeDaemon daemon(socket());
  daemon.answers("GET /v1/x", {200, "", "", true});
  const auto reply = Client(socket()).document(Method::get, "/v1/x", 50ms);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().trouble, Trouble::silent);
  EXPECT_THAT(reply.error().error.what, HasSubstr("50 ms"));
}

TEST_F(ClientTest, APathLongerThanSunPathWorks) {
  const auto deep = folder_ / std::string(120, 'd');
  std::filesystem::create_directory(deep);
  FakeDaemon daemon(deep / "trainward.sock");
  daemon.answers("GET /v1/x", "[]");
  const auto reply = Client(deep / "trainward.sock").document(Method::get, "/v1/x", 10s);
  EXPECT_TRUE(reply.has_value()) << reply.error().error.message();
}

// As another user; only root can become one.
TEST_F(ClientTest, NoPermissionIsSaidSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  FakeDaemon daemon(socket());
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(socket().c_str(), 0600), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(1);
    const auto reply = get("/v1/x");
    ::_exit(!reply && reply.error().trouble == Trouble::denied ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace trainward::ctl
