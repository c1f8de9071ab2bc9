// A server in HTTP/1.1 that answers as it is told, with every fault that a network has, on a port
// of 127.0.0.1 and threads of its own. Requests are kept whole for the test to look at.
//
//   HttpScript server{{.status = 429, .headers = {{"Retry-After", "1"}}}, {.body = "ok"}};
//   client.send({.url = server.url("/hook")});
//   EXPECT_EQ(server.requests()[0].header("authorization"), "Bearer x");
//
// A connection that waits is cut when the server goes; a test never hangs in its destructor.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/os/fd.hpp"

namespace trainward::test {

// Shut until it is opened, once and for all who wait.
class HttpGate {
 public:
  void open();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

struct HttpRequest {
  std::string method;
  std::string target;                                        // as sent: path and query
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  std::uint64_t body_size = 0;  // also where bodies are not kept
  std::size_t connection = 0;   // which of the server's, from 0
  bool whole = true;            // no: the client or the script went before all of it was read

  // The first of that name (in lower case); "" when there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::string_view path() const;  // the target without its query
};

// One answer. Content-Length is added, unless `headers` has it or Transfer-Encoding.
struct HttpStep {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  bool close = false;  // the connection, after this answer
  // Faults, of which the first that applies counts:
  bool before_body = false;  // answered, and closed, without having read the request's body
  bool drop = false;         // read whole, then closed without a word
  std::string raw = {};      // these bytes instead of an answer, then closed
  std::shared_ptr<HttpGate> hold = {};        // nothing is said before it opens
  std::optional<std::size_t> cut_after = {};  // so many bytes of the body, then closed
  std::shared_ptr<HttpGate> stall = {};       // the second half of the body waits for it
};

HttpStep redirect_to(const std::string& url, int status = 302);

class HttpScript {
 public:
  using Handler = std::function<HttpStep(const HttpRequest&)>;

  // One step a request, in the order in which requests arrive. Beyond the last: 500, and
  // `unexpected()` counts.
  HttpScript() : HttpScript(Handler()) {}
  HttpScript(std::initializer_list<HttpStep> steps);
  // A fake with a memory: called for each request once it is read, one at a time.
  explicit HttpScript(Handler handler);
  ~HttpScript();
  HttpScript(const HttpScript&) = delete;
  HttpScript& operator=(const HttpScript&) = delete;

  void then(HttpStep step);  // one more
  void keep_bodies(bool keep) { keep_bodies_ = keep; }

  [[nodiscard]] int port() const { return port_; }
  // "http://127.0.0.1:PORT" and what follows.
  [[nodiscard]] std::string url(std::string_view rest = "/") const;
  [[nodiscard]] std::vector<HttpRequest> requests() const;
  // Whether so many have been read, waiting at most half a minute.
  [[nodiscard]] bool wait_for(std::size_t count) const;
  [[nodiscard]] std::size_t unexpected() const;
  [[nodiscard]] std::size_t connections() const;

 private:
  void accept_connections();
  void serve(std::size_t index, int socket);
  bool serve_one(std::size_t index, int socket, std::string& buffer);
  std::optional<HttpStep> next_step();
  void record(HttpRequest request);
  void wait_at(const std::shared_ptr<HttpGate>& gate);
  void answer(int socket, const HttpStep& step, const HttpRequest& request);

  Handler handler_;
  Fd listener_;
  int port_ = 0;
  std::atomic<bool> keep_bodies_ = true;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::mutex handling_;
  std::list<HttpStep> steps_;
  std::vector<HttpRequest> requests_;
  std::vector<std::weak_ptr<HttpGate>> gates_;
  std::map<std::size_t, int> sockets_;  // open connections
  std::vector<std::thread> threads_;
  std::size_t connections_ = 0;
  std::size_t unexpected_ = 0;
  bool ending_ = false;
  std::thread acceptor_;
};

}  // namespace trainward::test
