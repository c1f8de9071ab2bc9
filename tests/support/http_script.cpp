#include "http_script.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "common/base/text.hpp"

namespace trainward::test {
namespace {

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_more(int socket, std::string& buffer) {
  std::array<char, 256 * 1024> bytes{};
  const auto got = ::recv(socket, bytes.data(), bytes.size(), 0);
  if (got <= 0) return false;
  buffer.append(bytes.data(), static_cast<std::size_t>(got));
  return true;
}

// The request line and headers; `text` without the empty line.
HttpRequest parsed_head(std::string_view text) {
  HttpRequest request;
  std::string_view first = take_line(text);
  const std::size_t space = first.find(' ');
  request.method = first.substr(0, space);
  if (space != std::string_view::npos) {
    first.remove_prefix(space + 1);
    request.target = first.substr(0, first.find(' '));
  }
  while (!text.empty()) {
    const std::string_view line = trim(take_line(text));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    request.headers.emplace_back(lower_case(line.substr(0, colon)),
                                 std::string(trim(line.substr(colon + 1))));
  }
  return request;
}

std::uint64_t announced_size(const HttpRequest& request) {
  const std::string_view text = request.header("content-length");
  std::uint64_t size = 0;
  std::from_chars(text.data(), text.data() + text.size(), size);
  return size;
}

// Reads the body, of which a part is in `buffer` already; leaves there what comes after it.
void read_body(int socket, std::string& buffer, std::uint64_t size, bool keep,
               HttpRequest& request) {
  while (request.body_size < size) {
    if (buffer.empty() && !receive_more(socket, buffer)) {
      request.whole = false;
      return;
    }
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - request.body_size));
    if (keep) request.body.append(buffer, 0, part);
    request.body_size += part;
    buffer.erase(0, part);
  }
}

bool has_header(const HttpStep& step, std::string_view name) {
  return std::any_of(step.headers.begin(), step.headers.end(),
                     [&](const auto& header) { return lower_case(header.first) == name; });
}

}  // namespace

void HttpGate::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void HttpGate::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return open_; });
}

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

bool HttpRequest::has(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return header.first == name; });
}

std::string_view HttpRequest::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

HttpStep redirect_to(const std::string& url, int status) {
  return {.status = status, .headers = {{"Location", url}}};
}

HttpScript::HttpScript(std::initializer_list<HttpStep> steps) : HttpScript(Handler()) {
  const std::lock_guard lock(mutex_);
  steps_.assign(steps);
}

HttpScript::HttpScript(Handler handler) : handler_(std::move(handler)) {
  listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 64) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_connections(); });
}

HttpScript::~HttpScript() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    for (const auto& [index, socket] : sockets_) ::shutdown(socket, SHUT_RDWR);
    for (const auto& gate : gates_) {
      if (const auto held = gate.lock()) held->open();
    }
  }
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    threads = std::move(threads_);
  }
  for (auto& thread : threads) thread.join();
}

void HttpScript::then(HttpStep step) {
  const std::lock_guard lock(mutex_);
  steps_.push_back(std::move(step));
}

std::string HttpScript::url(std::string_view rest) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(rest);
}

std::vector<HttpRequest> HttpScript::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool HttpScript::wait_for(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(30),
                           [&] { return requests_.size() >= count; });
}

std::size_t HttpScript::unexpected() const {
  const std::lock_guard lock(mutex_);
  return unexpected_;
}

std::size_t HttpScript::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void HttpScript::accept_connections() {
  while (true) {
    const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    // Or a body waits 40 ms for the other side to have said that it has the headers.
    const int at_once = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    const std::lock_guard lock(mutex_);
    if (ending_) {
      if (socket >= 0) ::close(socket);
      return;
    }
    if (socket < 0) continue;
    const std::size_t index = connections_++;
    sockets_[index] = socket;
    threads_.emplace_back([this, index, socket] { serve(index, socket); });
  }
}

void HttpScript::serve(std::size_t index, int socket) {
  std::string buffer;
  while (serve_one(index, socket, buffer)) {
  }
  const std::lock_guard lock(mutex_);
  sockets_.erase(index);
  ::close(socket);
}

std::optional<HttpStep> HttpScript::next_step() {
  const std::lock_guard lock(mutex_);
  if (handler_) return std::nullopt;
  if (steps_.empty()) {
    ++unexpected_;
    return HttpStep{.status = 500, .body = "no step is left in the script"};
  }
  HttpStep step = std::move(steps_.front());
  steps_.pop_front();
  return step;
}

void HttpScript::record(HttpRequest request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  changed_.notify_all();
}

void HttpScript::wait_at(const std::shared_ptr<HttpGate>& gate) {
  if (!gate) return;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    gates_.push_back(gate);
  }
  gate->wait();
}

void HttpScript::answer(int socket, const HttpStep& step, const HttpRequest& request) {
  std::string head = "HTTP/1.1 " + std::to_string(step.status) + " Scripted\r\n";
  for (const auto& [name, value] : step.headers) head += name + ": " + value + "\r\n";
  const bool has_no_body = step.status == 204 || step.status == 304;
  if (!has_no_body && !has_header(step, "content-length") &&
      !has_header(step, "transfer-encoding")) {
    head += "Content-Length: " + std::to_string(step.body.size()) + "\r\n";
  }
  if (step.close) head += "Connection: close\r\n";
  head += "\r\n";
  if (!send_all(socket, head) || request.method == "HEAD") return;
  const std::string_view body = step.body;
  if (step.cut_after) {
    send_all(socket, body.substr(0, *step.cut_after));
    return;
  }
  const std::size_t half = step.stall ? body.size() / 2 : 0;
  if (half > 0 && !send_all(socket, body.substr(0, half))) return;
  wait_at(step.stall);
  send_all(socket, body.substr(half));
}

// Whether the connection stays.
bool HttpScript::serve_one(std::size_t index, int socket, std::string& buffer) {
  std::size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!receive_more(socket, buffer)) return false;
  }
  HttpRequest request = parsed_head(std::string_view(buffer).substr(0, end + 2));
  request.connection = index;
  buffer.erase(0, end + 4);
  auto step = next_step();
  const std::uint64_t size = announced_size(request);
  if (step && step->before_body) {
    request.whole = size == 0;
  } else {
    if (lower_case(request.header("expect")) == "100-continue") {
      send_all(socket, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    read_body(socket, buffer, size, keep_bodies_, request);
  }
  if (!step) {
    const std::lock_guard lock(handling_);
    step = request.whole ? handler_(request) : HttpStep{.drop = true};
  }
  const bool whole = request.whole;
  record(request);
  wait_at(step->hold);
  if (step->drop || (!whole && !step->before_body)) return false;
  if (!step->raw.empty()) {
    send_all(socket, step->raw);
    return false;
  }
  answer(socket, *step, request);
  if (step->before_body) {
    // What is still on its way would make the kernel take the answer back.
    ::shutdown(socket, SHUT_WR);
    std::string rest;
    while (receive_more(socket, rest)) rest.clear();
    return false;
  }
  return !step->close && !step->cut_after;
}

}  // namespace trainward::test
