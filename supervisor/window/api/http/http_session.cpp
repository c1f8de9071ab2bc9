#include "supervisor/window/api/http/http_session.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "common/os/sockets/tcp_peer.hpp"
#include "supervisor/window/api/http/request_check.hpp"
#include "supervisor/window/api/http/wire.hpp"

namespace trainward::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;

// For an answer, and for each piece of one that is streamed; long ones have more, so that a slow
// line can take them.
constexpr auto write_timeout = 30s;
constexpr std::size_t bytes_a_second = 32 * 1024;
constexpr auto parting_time = 1s;

std::chrono::milliseconds time_to_write(std::size_t bytes) {
  return write_timeout + std::chrono::seconds(bytes / bytes_a_second);
}

}  // namespace

Session::Session(Socket socket, Owner owner)
    : socket_(std::move(socket)),
      owner_(std::move(owner)),
      peer_(peer_of(socket_.native_handle())),
      deadline_(socket_.get_executor()) {
  if (peer_.user) return;
  tune(socket_.native_handle());
  peer_.sender = user_of_peer(socket_.native_handle());
}

Session::~Session() { leave(); }

void Session::leave() {
  if (const auto pipe = std::exchange(pipe_, nullptr)) pipe->close();
  if (auto left = std::exchange(owner_.left, nullptr)) left();
}

void Session::abandon() {
  owner_ = {};
  close();
}

void Session::serve(const Patience& patience) {
  patience_ = patience;
  read();
}

void Session::read() {
  stage_ = Stage::reading;
  parser_.emplace();
  parser_->header_limit(8 * 1024);
  parser_->body_limit(64 * 1024);
  arm(patience_.request);
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                     self->on_request(error);
                   });
}

void Session::on_request(const beast::error_code& error) {
  if (stage_ != Stage::reading) return;
  if (error) {
    if (auto response = refusal_of(error)) return refuse(std::move(*response));
    return close();
  }
  ++requests_;
  const Message& message = parser_->get();
  only_head_ = message.method() == http::verb::head;
  old_ = message.version() < 11;
  keep_ = !old_ && message.keep_alive() && requests_ < most_requests;
  auto request = request_of(message, peer_);
  if (!request) return refuse(std::move(request.error()));
  path_ = request->path;
  if (auto refused = owner_.guard->refusal(*request)) return refuse(std::move(*refused));
  hand_on(*request);
}

void Session::hand_on(const Request& request) {
  stage_ = Stage::asked;
  deadline_.cancel();
  if (owner_.asked) owner_.asked();
  const auto waits = [weak = weak_from_this(), number = requests_] {
    const auto self = weak.lock();
    return self && self->stage_ == Stage::asked && self->requests_ == number;
  };
  const auto tell = [weak = weak_from_this(), waits](Response response) {
    if (waits()) return weak.lock()->answer(std::move(response), Stage::resting);
    if (response.pipe) response.pipe->close();
  };
  owner_.handler(request, Respond(tell, waits));
  if (waits()) wait_for_the_end();
}

// The kernel tells when the other side has let go of its socket. One that has only ended what it
// sends still reads.
void Session::wait_for_the_end() {
  socket_.async_wait(Socket::wait_error, [self = shared_from_this(),
                                          number = requests_](const beast::error_code& error) {
    if (error == asio::error::operation_aborted) return;
    if (self->stage_ == Stage::asked && self->requests_ == number) self->close();
  });
}

void Session::refuse(Response response) {
  leave();
  keep_ = false;
  answer(std::move(response), Stage::parting);
}

void Session::answer(Response response, Stage next) {
  beast::error_code ignored;
  socket_.cancel(ignored);
  stage_ = Stage::answering;
  name_instance(response, path_);
  pipe_ = std::move(response.pipe);
  keep_ = keep_ && !pipe_;
  const auto framing = !pipe_ ? Framing::length : old_ ? Framing::open : Framing::chunked;
  head_ = head_of(response, framing, keep_);
  body_ = only_head_ || response.status == 304 ? "" : std::move(response.body);
  if (pipe_ && !body_.empty() && framing == Framing::chunked) body_ = chunk_of(body_);
  arm(time_to_write(body_.size()));
  const std::array buffers{asio::buffer(head_), asio::buffer(body_)};
  asio::async_write(socket_, buffers,
                    [self = shared_from_this(), next](const beast::error_code& error, std::size_t) {
                      self->answered(error, next);
                    });
}

void Session::answered(const beast::error_code& error, Stage next) {
  if (stage_ != Stage::answering) return;
  if (error) return close();
  if (pipe_ && !only_head_) return stream();
  // Another request that is no longer read would cost the client this answer.
  if (next == Stage::parting || (!keep_ && buffer_.size() > 0)) return part();
  if (!keep_) return close();
  rest();
}

void Session::rest() {
  head_ = {};
  body_ = {};
  if (owner_.rests) owner_.rests();
  if (buffer_.size() > 0) return read();
  stage_ = Stage::resting;
  arm(patience_.rest);
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](const beast::error_code& error) {
                       if (self->stage_ != Stage::resting) return;
                       if (error) return self->close();
                       self->read();
                     });
}

void Session::stream() {
  stage_ = Stage::streaming;
  deadline_.cancel();
  drop_what_comes();
  pipe_->attach([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

// Called whenever there is something to write, which may be while this very function asks for it.
void Session::pump() {
  if (stage_ != Stage::streaming) return;
  if (pipe_->closed()) return close();
  if (writing_ || std::exchange(pumping_, true)) return;
  body_ = pipe_->take();
  pumping_ = false;
  if (stage_ != Stage::streaming || pipe_->closed()) return close();
  const bool last = body_.empty() && pipe_->ended();
  if (body_.empty() && !last) return;
  if (!old_) body_ = last ? std::string(last_chunk) : chunk_of(body_);
  writing_ = true;
  arm(time_to_write(body_.size()));
  asio::async_write(socket_, asio::buffer(body_),
                    [self = shared_from_this(), last](const beast::error_code& error, std::size_t) {
                      self->writing_ = false;
                      if (self->stage_ != Stage::streaming) return;
                      if (error || last) return self->close();
                      self->deadline_.cancel();
                      self->pump();
                    });
}

void Session::part() {
  stage_ = Stage::parting;
  arm(parting_time);
  beast::error_code gone;
  socket_.shutdown(Socket::shutdown_send, gone);
  drop_what_comes();
}

// While it parts, and while it is told what it listens to: a client that ends the connection is
// gone.
void Session::drop_what_comes() {
  socket_.async_read_some(asio::buffer(dropped_), [self = shared_from_this()](
                                                      const beast::error_code& error, std::size_t) {
    if (self->stage_ != Stage::parting && self->stage_ != Stage::streaming) {
      return;
    }
    if (error) return self->close();
    self->drop_what_comes();
  });
}

void Session::close() {
  stage_ = Stage::closed;
  deadline_.cancel();
  beast::error_code ignored;
  socket_.close(ignored);
  leave();
}

void Session::arm(std::chrono::milliseconds after) {
  deadline_.expires_after(after);
  deadline_.async_wait([weak = weak_from_this()](const beast::error_code& error) {
    const auto self = weak.lock();
    if (self && !error) self->on_deadline();
  });
}

void Session::on_deadline() {
  // Set again while this call was on its way.
  if (deadline_.expiry() > std::chrono::steady_clock::now()) return;
  if (stage_ == Stage::reading) {
    return refuse(error_response(
        408, {ErrorKind::transient, "the request was not finished in time", "", ""}));
  }
  if (stage_ != Stage::asked) close();
}

}  // namespace trainward::api
