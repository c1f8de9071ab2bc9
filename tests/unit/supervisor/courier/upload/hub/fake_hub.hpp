// A Hugging Face Hub with the rules that an upload meets, in memory, over HTTP on a port of
// 127.0.0.1. The store behind it answers as http://localhost:PORT, another origin. What a client
// must never do is noted in violations().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"
#include "http_script.hpp"

namespace trainward::test {

class FakeHub {
 public:
  struct Blob {
    std::string bytes;   // of a regular file
    std::string sha256;  // of an LFS object; empty: regular
    friend bool operator==(const Blob&, const Blob&) = default;
  };
  using Tree = std::map<std::string, Blob>;
  struct Commit {
    std::string parent;  // empty: the first
    std::string summary;
    Tree tree;
  };
  struct Repository {
    std::string visibility;
    std::map<std::string, Commit> commits;
    std::map<std::string, std::string> branches;
    std::map<std::string, std::string> tags;
  };
  struct Rules {
    std::string token = "hf_TestTokenThatMustNeverBeSeen0123456789";
    std::string user = "me";
    json::value access = json::object{{"displayName", "t"}, {"role", "write"}};
    std::int64_t chunk = 0;           // objects beyond it go up in parts of that size
    std::size_t page = 3;             // entries of a tree at once
    bool confirms_elsewhere = false;  // the store is told, not the Hub
    std::string public_endpoint;      // what addresses in answers begin with; empty: its own
  };

  FakeHub() : FakeHub(Rules()) {}
  explicit FakeHub(Rules rules);

  // Called before a request is carried out, with its number from 0: an answer in its place.
  using Before = std::function<std::optional<HttpStep>(std::size_t, const HttpRequest&)>;
  // Called with the answer, which it may change or drop.
  using After = std::function<void(std::size_t, const HttpRequest&, HttpStep&)>;
  Before before;
  After after;

  [[nodiscard]] std::string endpoint() const { return server_->url(""); }
  [[nodiscard]] std::string store() const;
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::vector<std::string> violations() const;
  [[nodiscard]] std::vector<HttpRequest> requests() const { return server_->requests(); }

  // What it holds; between requests.
  Rules rules;
  std::map<std::string, Repository> repositories;
  std::map<std::string, std::string> objects;  // by SHA-256
  std::size_t bytes_stored = 0;                // that were put into the store
  // Commits of a branch from its end to its beginning.
  [[nodiscard]] std::vector<Commit> history(const std::string& repository,
                                            const std::string& branch = "main") const;
  // Bytes of a file at a revision; nothing: it is not there.
  [[nodiscard]] std::optional<std::string> read(const std::string& repository,
                                                const std::string& revision,
                                                const std::string& path) const;
  // A commit by somebody else.
  void commit(const std::string& repository, const std::string& path, const std::string& bytes);
  void expire_addresses();

 private:
  struct Address {     // signed, for one object
    std::string kind;  // "whole", "part"
    std::string oid;
    std::string upload;  // of a part
    std::int64_t number = 0;
    bool expired = false;
  };
  struct Upload {
    std::string oid;
    std::int64_t size = 0;
    std::map<std::int64_t, std::string> parts;
  };

  HttpStep handle(const HttpRequest& request);
  HttpStep answer(const HttpRequest& request);
  HttpStep api(const HttpRequest& request, std::string_view rest);
  HttpStep create(const HttpRequest& request);
  HttpStep models(const HttpRequest& request, Repository& repository, std::string_view rest);
  HttpStep preupload(const HttpRequest& request, const Repository& repository);
  HttpStep tree(const HttpRequest& request, const Repository& repository,
                const std::string& revision);
  HttpStep make_commit(const HttpRequest& request, Repository& repository,
                       const std::string& branch);
  std::optional<std::string> apply(const json::object& line, Tree& tree);
  HttpStep squash(Repository& repository, const std::string& branch);
  HttpStep batch(const HttpRequest& request);
  json::object actions_for(const std::string& oid, std::int64_t size);
  HttpStep confirm(const HttpRequest& request);
  HttpStep complete(const HttpRequest& request, const std::string& upload);
  HttpStep put(const HttpRequest& request, const std::string& address);
  HttpStep resolve(const HttpRequest& request, std::string_view path);
  HttpStep fetch(const HttpRequest& request, const std::string& oid);
  void violate(std::string what);
  std::string sign(Address address);
  std::string new_commit(Repository& repository, Commit commit);
  static const Commit* find(const Repository& repository, const std::string& revision);
  static HttpStep refusal(int status, std::string message, std::string code = {});

  std::map<std::string, Address> addresses_;
  std::map<std::string, Upload> uploads_;
  std::size_t number_ = 0;
  std::size_t count_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> violations_;
  std::unique_ptr<HttpScript> server_;
};

// What git calls it; SHA-1 of head and bytes.
std::string blob_id(std::string_view bytes);
std::string decode_base64(std::string_view text);

}  // namespace trainward::test
