#include "fake_hub.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <nettle/sha1.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "common/base/base64.hpp"
#include "common/base/digest.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"

namespace trainward::test {
namespace {

constexpr std::string_view first_attributes =
    "*.bin filter=lfs diff=lfs merge=lfs -text\n"
    "*.pt filter=lfs diff=lfs merge=lfs -text\n"
    "*.safetensors filter=lfs diff=lfs merge=lfs -text\n";
constexpr std::size_t largest_regular = 10 << 20;

const std::uint8_t* octets(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ec == std::errc()) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string query_value(std::string_view target, std::string_view name) {
  const auto at = target.find(fmt::format("{}=", name));
  if (at == std::string_view::npos) return {};
  const auto begin = at + name.size() + 1;
  return std::string(target.substr(begin, target.find('&', begin) - begin));
}

bool is_tracked(const FakeHub::Tree& tree, const std::string& path) {
  const auto found = tree.find(".gitattributes");
  std::string_view rest = found == tree.end() ? first_attributes : found->second.bytes;
  const auto slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.find("filter=lfs") == std::string_view::npos) continue;
    const std::string pattern(line.substr(0, line.find(' ')));
    const bool whole = pattern.find('/') != std::string::npos;
    if (::fnmatch(pattern.c_str(), whole ? path.c_str() : name.c_str(), 0) == 0) return true;
  }
  return false;
}

HttpStep json_step(const json::value& value) {
  return {.headers = {{"Content-Type", "application/json"}}, .body = json::serialize(value)};
}

}  // namespace

std::string blob_id(std::string_view bytes) {
  const std::string head = fmt::format("blob {}", bytes.size());
  sha1_ctx context{};
  sha1_init(&context);
  sha1_update(&context, head.size() + 1, octets(head));
  sha1_update(&context, bytes.size(), octets(bytes));
  std::array<std::uint8_t, SHA1_DIGEST_SIZE> digest{};
  sha1_digest(&context, digest.size(), digest.data());
  std::string out;
  for (const auto byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

std::string decode_base64(std::string_view text) { return from_base64(text).value_or(""); }

FakeHub::FakeHub(Rules given) : rules(std::move(given)) {
  server_ =
      std::make_unique<HttpScript>([this](const HttpRequest& request) { return handle(request); });
}

std::string FakeHub::store() const { return fmt::format("http://localhost:{}", server_->port()); }

std::vector<std::string> FakeHub::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

void FakeHub::violate(std::string what) {
  const std::lock_guard lock(mutex_);
  violations_.push_back(std::move(what));
}

HttpStep FakeHub::refusal(int status, std::string message, std::string code) {
  HttpStep step{.status = status,
                .headers = {{"X-Error-Message", message}},
                .body = json::serialize(json::object{{"error", message}})};
  if (!code.empty()) step.headers.emplace_back("X-Error-Code", code);
  return step;
}

HttpStep FakeHub::handle(const HttpRequest& request) {
  const std::size_t number = count_++;
  if (before) {
    if (auto step = before(number, request)) return *step;
  }
  HttpStep step = answer(request);
  if (after) after(number, request, step);
  return step;
}

HttpStep FakeHub::answer(const HttpRequest& request) {
  const std::string_view path = request.path();
  const bool has_bearer = request.has("authorization");
  if (path.starts_with("/store/")) {
    if (has_bearer) violate("the token went to the store: " + std::string(path));
    if (!request.header("host").starts_with("localhost")) violate("the store is another host");
    if (path == "/store/confirm") return confirm(request);
    if (path.starts_with("/store/get/")) return fetch(request, std::string(path.substr(11)));
    return put(request, std::string(path.substr(11)));
  }
  if (path.starts_with("/complete/")) {
    if (has_bearer) violate("the token went to a completion");
    return complete(request, std::string(path.substr(10)));
  }
  if (request.header("authorization") != "Bearer " + rules.token) {
    // As a careless server would: what came is in the answer.
    return refusal(401, fmt::format("Invalid credentials in Authorization header: {}",
                                    request.header("authorization")));
  }
  if (path.starts_with("/api/")) return api(request, path.substr(5));
  if (path == "/confirm") return confirm(request);
  if (path.ends_with(".git/info/lfs/objects/batch")) return batch(request);
  if (path.find("/resolve/") != std::string_view::npos) return resolve(request, path);
  return refusal(404, "Not found");
}

HttpStep FakeHub::api(const HttpRequest& request, std::string_view rest) {
  if (rest == "whoami-v2") {
    return json_step({{"type", "user"},
                      {"name", rules.user},
                      {"auth", json::object{{"accessToken", rules.access}}}});
  }
  if (rest == "repos/create") return create(request);
  if (!rest.starts_with("models/")) return refusal(404, "Not found");
  rest.remove_prefix(7);
  auto end = rest.find('/', rest.find('/') + 1);
  if (end == std::string_view::npos) end = rest.size();
  const auto found = repositories.find(std::string(rest.substr(0, end)));
  if (found == repositories.end()) return refusal(404, "Repository not found", "RepoNotFound");
  return models(request, found->second, rest.substr(std::min(end + 1, rest.size())));
}

HttpStep FakeHub::create(const HttpRequest& request) {
  const json::value value = json::parse(request.body);
  const json::object& body = value.get_object();
  const std::string owner = string_or(body, "organization", rules.user);
  const std::string name = owner + "/" + string_or(body, "name", "");
  if (repositories.count(name) != 0) return refusal(409, "You already created this model repo");
  Repository repository;
  repository.visibility = string_or(body, "visibility", "");
  Commit first;
  first.summary = "initial commit";
  first.tree[".gitattributes"] = {std::string(first_attributes), ""};
  repository.branches["main"] = new_commit(repository, std::move(first));
  repositories[name] = std::move(repository);
  return json_step({{"url", endpoint() + "/" + name}});
}

std::string FakeHub::new_commit(Repository& repository, Commit commit) {
  std::string name = blob_id(fmt::format("commit {} {}", ++number_, commit.summary));
  repository.commits[name] = std::move(commit);
  return name;
}

const FakeHub::Commit* FakeHub::find(const Repository& repository, const std::string& revision) {
  std::string commit = revision;
  if (const auto branch = repository.branches.find(revision); branch != repository.branches.end()) {
    commit = branch->second;
  } else if (const auto tag = repository.tags.find(revision); tag != repository.tags.end()) {
    commit = tag->second;
  }
  const auto found = repository.commits.find(commit);
  return found == repository.commits.end() ? nullptr : &found->second;
}

HttpStep FakeHub::models(const HttpRequest& request, Repository& repository,
                         std::string_view rest) {
  const auto slash = rest.find('/');
  const std::string_view verb = rest.substr(0, slash);
  const std::string revision =
      slash == std::string_view::npos ? "" : percent_decoded(rest.substr(slash + 1));
  if (verb == "refs") {
    json::array tags;
    for (const auto& [name, commit] : repository.tags) {
      tags.push_back(
          json::object{{"name", name}, {"ref", "refs/tags/" + name}, {"targetCommit", commit}});
    }
    return json_step({{"branches", json::array()}, {"converts", json::array()}, {"tags", tags}});
  }
  if (verb == "branch") {
    if (repository.branches.count(revision) != 0) return refusal(409, "Reference exists already");
    repository.branches[revision] = repository.branches["main"];
    return json_step(json::object{});
  }
  if (find(repository, revision) == nullptr) {
    return refusal(404, "Invalid rev id: " + revision, "RevisionNotFound");
  }
  if (verb == "revision") {
    const auto branch = repository.branches.find(revision);
    return json_step(
        {{"id", "x"}, {"sha", branch == repository.branches.end() ? revision : branch->second}});
  }
  if (verb == "tree") return tree(request, repository, revision);
  if (verb == "preupload") return preupload(request, repository);
  if (verb == "commit") return make_commit(request, repository, revision);
  if (verb == "super-squash") return squash(repository, revision);
  if (verb == "tag") {
    const std::string name = string_or(json::parse(request.body).get_object(), "tag", "");
    if (repository.tags.count(name) != 0) return refusal(409, "Tag exists already");
    repository.tags[name] =
        repository.commits.count(revision) != 0 ? revision : repository.branches[revision];
    return json_step(json::object{});
  }
  return refusal(404, "Not found");
}

HttpStep FakeHub::tree(const HttpRequest& request, const Repository& repository,
                       const std::string& revision) {
  const Tree& files = find(repository, revision)->tree;
  std::size_t begin = 0;
  const std::string cursor = query_value(request.target, "cursor");
  std::from_chars(cursor.data(), cursor.data() + cursor.size(), begin);
  json::array out;
  if (begin == 0) {
    out.push_back(json::object{{"type", "directory"}, {"path", "x"}, {"oid", ""}, {"size", 0}});
  }
  std::size_t at = 0;
  for (const auto& [path, blob] : files) {
    if (at++ < begin || at > begin + rules.page) continue;
    json::object entry{{"type", "file"}, {"path", path}};
    if (blob.sha256.empty()) {
      entry["oid"] = blob_id(blob.bytes);
      entry["size"] = blob.bytes.size();
    } else {
      entry["oid"] = blob_id("pointer " + blob.sha256);
      entry["size"] = objects.at(blob.sha256).size();
      entry["lfs"] = json::object{
          {"oid", blob.sha256}, {"size", objects.at(blob.sha256).size()}, {"pointerSize", 134}};
    }
    out.push_back(std::move(entry));
  }
  HttpStep step = json_step(out);
  if (begin + rules.page < files.size()) {
    step.headers.emplace_back("Link", fmt::format("<{}{}?recursive=true&cursor={}>; rel=\"next\"",
                                                  endpoint(), request.path(), begin + rules.page));
  }
  return step;
}

HttpStep FakeHub::preupload(const HttpRequest& request, const Repository& repository) {
  const json::value value = json::parse(request.body);
  json::array out;
  const Tree& tree = find(repository, "main")->tree;
  const auto& files = value.at("files").as_array();
  if (files.size() > 256) violate("too many files in a preupload");
  for (const auto& item : files) {
    const json::object& file = item.as_object();
    const std::string path = string_or(file, "path", "");
    const bool lfs = is_tracked(tree, path) ||
                     int_or(file, "size", 0) > static_cast<std::int64_t>(largest_regular);
    out.push_back(json::object{{"path", path},
                               {"uploadMode", lfs ? "lfs" : "regular"},
                               {"shouldIgnore", false},
                               {"oid", nullptr}});
  }
  return json_step({{"files", std::move(out)}, {"commitOid", "x"}});
}

std::string FakeHub::sign(Address address) {
  const std::string name = fmt::format("{}-{}", address.kind, ++number_);
  addresses_[name] = std::move(address);
  // Good for a quarter of an hour from now on.
  std::string at = iso8601(now().wall.ms).substr(0, 19);
  std::erase_if(at, [](char c) { return c == '-' || c == ':'; });
  return fmt::format(
      "{}/store/put/{}?X-Amz-Date={}Z&X-Amz-Expires=900&X-Amz-Signature=SignatureOf{}", store(),
      name, at, name);
}

void FakeHub::expire_addresses() {
  for (auto& [name, address] : addresses_) address.expired = true;
  uploads_.clear();
}

json::object FakeHub::actions_for(const std::string& oid, std::int64_t size) {
  const std::string base = rules.public_endpoint.empty() ? endpoint() : rules.public_endpoint;
  json::object header;
  std::string href;
  if (rules.chunk > 0 && size > rules.chunk) {
    const std::string upload = fmt::format("upload-{}", ++number_);
    uploads_[upload] = {oid, size, {}};
    header["chunk_size"] = fmt::to_string(rules.chunk);
    for (std::int64_t part = 1; (part - 1) * rules.chunk < size; ++part) {
      header[fmt::format("{:05}", part)] = sign({"part", oid, upload, part});
    }
    href = base + "/complete/" + upload;
  } else {
    href = sign({"whole", oid, "", 0});
  }
  return {{"upload", json::object{{"href", href}, {"header", std::move(header)}}},
          {"verify", json::object{{"href", rules.confirms_elsewhere ? store() + "/store/confirm"
                                                                    : base + "/confirm"}}}};
}

HttpStep FakeHub::batch(const HttpRequest& request) {
  if (request.header("content-type") != "application/vnd.git-lfs+json") {
    violate("a batch of another type");
  }
  const json::value value = json::parse(request.body);
  json::array out;
  for (const auto& item : value.at("objects").as_array()) {
    const std::string oid = string_or(item.as_object(), "oid", "");
    const std::int64_t size = int_or(item.as_object(), "size", 0);
    json::object object{{"oid", oid}, {"size", size}};
    if (objects.count(oid) == 0) object["actions"] = actions_for(oid, size);
    out.push_back(std::move(object));
  }
  return json_step(
      {{"transfer", rules.chunk > 0 ? "multipart" : "basic"}, {"objects", std::move(out)}});
}

HttpStep FakeHub::put(const HttpRequest& request, const std::string& name) {
  const auto found = addresses_.find(name);
  if (found == addresses_.end() || request.target.find("X-Amz-Signature=") == std::string::npos) {
    return {.status = 403, .body = "<Error><Code>SignatureDoesNotMatch</Code></Error>"};
  }
  if (found->second.expired) {
    return {.status = 403, .body = "<Error><Code>AccessDenied</Code>Request has expired</Error>"};
  }
  if (request.has("transfer-encoding")) violate("a body without a length");
  const Address& address = found->second;
  bytes_stored += request.body.size();
  if (address.kind == "whole") {
    if (sha256_hex(request.body) != address.oid) {
      return {.status = 400, .body = "<Error><Code>XAmzContentSHA256Mismatch</Code></Error>"};
    }
    objects[address.oid] = request.body;
    return {};
  }
  uploads_[address.upload].parts[address.number] = request.body;
  return {.headers = {{"ETag", fmt::format("\"{}\"", blob_id(request.body))}}};
}

HttpStep FakeHub::complete(const HttpRequest& request, const std::string& name) {
  const auto found = uploads_.find(name);
  if (found == uploads_.end()) return refusal(404, "no such upload");
  const json::value value = json::parse(request.body);
  std::string bytes;
  std::int64_t number = 0;
  for (const auto& item : value.at("parts").as_array()) {
    const json::object& part = item.as_object();
    if (int_or(part, "partNumber", 0) != ++number) violate("parts out of order");
    const std::string& held = found->second.parts[number];
    if (string_or(part, "etag", "") != fmt::format("\"{}\"", blob_id(held))) {
      return refusal(400, "InvalidPart");
    }
    bytes += held;
  }
  if (sha256_hex(bytes) != found->second.oid) return refusal(400, "the digest does not match");
  objects[found->second.oid] = bytes;
  uploads_.erase(found);
  return json_step(json::object{});
}

HttpStep FakeHub::confirm(const HttpRequest& request) {
  const json::value value = json::parse(request.body);
  const auto found = objects.find(string_or(value.as_object(), "oid", ""));
  if (found == objects.end() ||
      static_cast<std::int64_t>(found->second.size()) != int_or(value.as_object(), "size", -1)) {
    return refusal(404, "object is not there");
  }
  return json_step(json::object{});
}

// Why it is refused; nothing: it is done.
std::optional<std::string> FakeHub::apply(const json::object& line, Tree& tree) {
  const std::string key = string_or(line, "key", "");
  const json::object& value = line.at("value").as_object();
  const std::string path = string_or(value, "path", "");
  if (key == "header") return "a second header";
  if (key == "deletedFile") {
    if (tree.erase(path) == 0) return "no such file: " + path;
    return std::nullopt;
  }
  if (key == "lfsFile") {
    const std::string oid = string_or(value, "oid", "");
    const auto found = objects.find(oid);
    if (found == objects.end()) return "LFS pointer pointed to a file that does not exist";
    if (static_cast<std::int64_t>(found->second.size()) != int_or(value, "size", -1)) {
      return "the size of the object is another";
    }
    if (!is_tracked(tree, path)) {
      tree[".gitattributes"].bytes += path + " filter=lfs diff=lfs merge=lfs -text\n";
    }
    tree[path] = {"", oid};
    return std::nullopt;
  }
  if (key != "file") return "a line that is not known";
  const std::string bytes = decode_base64(string_or(value, "content", ""));
  if (bytes.size() > largest_regular) return "a file beyond 10 MiB";
  if (bytes.find('\0') != std::string::npos) {
    return "Your push was rejected because it contains binary files";
  }
  if (!bytes.empty() && is_tracked(tree, path))
    return "a file that has to be an LFS object: " + path;
  tree[path] = {bytes, ""};
  return std::nullopt;
}

HttpStep FakeHub::make_commit(const HttpRequest& request, Repository& repository,
                              const std::string& branch) {
  if (request.header("content-type") != "application/x-ndjson") violate("a commit of another type");
  std::string_view rest = request.body;
  const json::value first = json::parse(take_line(rest));
  if (string_or(first.as_object(), "key", "") != "header") return refusal(400, "no header");
  const json::object& header = first.at("value").as_object();
  const std::string parent = string_or(header, "parentCommit", "");
  if (parent.empty()) violate("a commit without its parent");
  if (parent != repository.branches.at(branch)) {
    return refusal(412, "The branch was updated since you opened this page.");
  }
  Commit commit = repository.commits.at(parent);
  commit.parent = parent;
  commit.summary = string_or(header, "summary", "");
  // Attributes count for the files beside them.
  std::vector<json::value> lines;
  while (!rest.empty()) lines.push_back(json::parse(take_line(rest)));
  std::stable_partition(lines.begin(), lines.end(), [](const json::value& line) {
    const auto* path = line.at("value").as_object().if_contains("path");
    return path != nullptr && path->is_string() && path->as_string() == ".gitattributes";
  });
  const Tree before_it = commit.tree;
  for (const auto& line : lines) {
    if (auto why = apply(line.as_object(), commit.tree)) return refusal(400, *why);
  }
  if (commit.tree == before_it) violate("a commit that changes nothing");
  const std::string name = new_commit(repository, std::move(commit));
  repository.branches[branch] = name;
  return json_step({{"commitUrl", endpoint() + "/commit/" + name}, {"commitOid", name}});
}

HttpStep FakeHub::squash(Repository& repository, const std::string& branch) {
  Commit commit = *find(repository, branch);
  commit.parent.clear();
  repository.branches[branch] = new_commit(repository, std::move(commit));
  return json_step(json::object{});
}

HttpStep FakeHub::resolve(const HttpRequest&, std::string_view path) {
  const auto at = path.find("/resolve/");
  const auto found = repositories.find(std::string(path.substr(1, at - 1)));
  if (found == repositories.end()) return refusal(404, "Repository not found", "RepoNotFound");
  const std::string_view rest = path.substr(at + 9);
  const auto slash = rest.find('/');
  const Commit* commit = find(found->second, percent_decoded(rest.substr(0, slash)));
  if (commit == nullptr) return refusal(404, "no such revision", "RevisionNotFound");
  const auto file = commit->tree.find(percent_decoded(rest.substr(slash + 1)));
  if (file == commit->tree.end()) return refusal(404, "no such entry", "EntryNotFound");
  if (file->second.sha256.empty()) return {.body = file->second.bytes};
  return redirect_to(
      fmt::format("{}/store/get/{}?X-Amz-Signature=Secret", store(), file->second.sha256));
}

HttpStep FakeHub::fetch(const HttpRequest& request, const std::string& oid) {
  const auto found = objects.find(oid);
  if (found == objects.end()) return {.status = 404};
  const std::string_view range = request.header("range");
  if (!range.starts_with("bytes=")) return {.body = found->second};
  std::size_t from = 0;
  std::from_chars(range.data() + 6, range.data() + range.size(), from);
  if (from >= found->second.size()) return {.status = 416};
  return {
      .status = 206,
      .headers = {{"Content-Range", fmt::format("bytes {}-{}/{}", from, found->second.size() - 1,
                                                found->second.size())}},
      .body = found->second.substr(from)};
}

std::vector<FakeHub::Commit> FakeHub::history(const std::string& repository,
                                              const std::string& branch) const {
  std::vector<Commit> out;
  const auto found = repositories.find(repository);
  if (found == repositories.end()) return out;
  std::string name = found->second.branches.at(branch);
  while (!name.empty()) {
    out.push_back(found->second.commits.at(name));
    name = out.back().parent;
  }
  return out;
}

std::optional<std::string> FakeHub::read(const std::string& repository, const std::string& revision,
                                         const std::string& path) const {
  const auto found = repositories.find(repository);
  if (found == repositories.end()) return std::nullopt;
  const Commit* commit = find(found->second, revision);
  if (commit == nullptr) return std::nullopt;
  const auto file = commit->tree.find(path);
  if (file == commit->tree.end()) return std::nullopt;
  return file->second.sha256.empty() ? file->second.bytes : objects.at(file->second.sha256);
}

void FakeHub::commit(const std::string& repository, const std::string& path,
                     const std::string& bytes) {
  Repository& at = repositories.at(repository);
  Commit commit = *find(at, "main");
  commit.parent = at.branches.at("main");
  commit.summary = "by hand";
  commit.tree[path] = {bytes, ""};
  at.branches["main"] = new_commit(at, std::move(commit));
}

}  // namespace trainward::test
