// A daemon that knows its answers by heart and remembers what it was asked.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/os/fd.hpp"

namespace trainward::ctl {

class FakeDaemon {
 public:
  struct Canned {
    int status = 200;
    std::string body;
    std::string headers;  // "X-Log-Size: 5\r\n"
    bool silent = false;  // takes the request and never answers
  };

  explicit FakeDaemon(const std::filesystem::path& socket);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  // `request` is "GET /v1/programs"; the last answer repeats when several are given.
  void answers(const std::string& request, Canned canned);
  void answers(const std::string& request, const std::string& body) {
    answers(request, Canned{200, body, "", false});
  }
  // In the order they came.
  std::vector<std::string> requests();

 private:
  void serve();
  void serve_one(int connection);

  Fd listener_;
  std::mutex mutex_;
  std::map<std::string, std::vector<Canned>> canned_;
  std::vector<std::string> requests_;
  std::vector<Fd> held_;  // connections left without an answer
  std::thread thread_;
};

}  // namespace trainward::ctl
