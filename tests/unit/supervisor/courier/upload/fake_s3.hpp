// A bucket behind the S3 protocol, in memory, with every fault at any request. What it was sent is
// kept for verify_signatures.py, which checks each signature by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http_script.hpp"

namespace trainward::test {

class FakeS3 {
 public:
  static constexpr const char* key_id = "AKIDTEST";
  static constexpr const char* secret = "5ecr3t/of+the/test";

  enum class Fault {
    none,
    refuse_500,      // nothing is done
    slow_down_503,   // nothing is done, and Retry-After
    drop_before,     // nothing is done, and nothing is said
    lose_answer,     // done, and nothing is said
    no_such_upload,  // the server has forgotten all uploads under way
    skewed,          // the clock of the box is wrong
    damaged,         // the bytes changed on their way
    cut_answer,      // done; the answer ends in its middle
  };

  // `fault`: of the request of this number (from 0).
  explicit FakeS3(std::function<Fault(std::size_t, const HttpRequest&)> fault = {});

  [[nodiscard]] std::string endpoint() const { return server_.url(""); }
  [[nodiscard]] std::map<std::string, std::string> objects() const;
  [[nodiscard]] std::size_t open_uploads() const;
  [[nodiscard]] std::size_t count() const { return server_.requests().size(); }
  // How often an object was made at a key, by one request or by completing parts.
  [[nodiscard]] int times_made(const std::string& key) const;
  void change(const std::string& key, const std::string& text);
  void redirect_downloads_to(std::string url) { redirect_ = std::move(url); }
  void refuse_conditions() { refuses_conditions_ = true; }
  // As Ceph 16 does, for which what stands in If-Match with its quotes is never what is there.
  void compare_without_quotes() { compares_without_quotes_ = true; }
  // Answers to what is asked of a target with these words wait for the gate.
  void hold(std::string words, std::shared_ptr<HttpGate> gate) {
    held_ = std::move(words);
    gate_ = std::move(gate);
  }
  // What would be answered, before it is; of another thread.
  void alter(std::function<void(const HttpRequest&, HttpStep&)> how) { alter_ = std::move(how); }
  void ignore_ranges() { ignores_ranges_ = true; }

  [[nodiscard]] HttpScript& server() { return server_; }
  // One JSON object a line: method, target, headers, sha256 of the body.
  [[nodiscard]] std::string recorded() const;

 private:
  struct Upload {
    std::string key;
    std::map<int, std::string> parts;
  };
  HttpStep handle(const HttpRequest& request);
  HttpStep act(const HttpRequest& request);
  HttpStep list(const std::map<std::string, std::string>& query) const;
  HttpStep list_uploads(const std::map<std::string, std::string>& query) const;
  HttpStep complete(const std::string& key, const std::string& id, const std::string& body);
  HttpStep put(const std::string& key, const HttpRequest& request);
  HttpStep get(const std::string& key, const HttpRequest& request) const;
  static HttpStep refusal(int status, std::string_view code);

  std::function<Fault(std::size_t, const HttpRequest&)> fault_;
  std::function<void(const HttpRequest&, HttpStep&)> alter_;
  mutable std::mutex mutex_;
  std::size_t number_ = 0;
  std::map<std::string, std::string> objects_;
  std::map<std::string, int> made_;
  std::map<std::string, Upload> uploads_;
  int next_upload_ = 0;
  std::string redirect_;
  bool refuses_conditions_ = false;
  bool compares_without_quotes_ = false;
  std::string held_;
  std::shared_ptr<HttpGate> gate_;
  bool ignores_ranges_ = false;
  HttpScript server_;  // the last: it calls the others
};

}  // namespace trainward::test
