#include "supervisor/api/session.hpp"

#include "supervisor/api/request_check.hpp"

namespace trainward::api {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;

constexpr auto write_timeout = 30s;
constexpr auto parting_time = 1s;

}  // namespace

Session::Session(Socket socket, Owner owner)
    : socket_(std::move(socket)), owner_(std::move(owner)), deadline_(socket_.get_executor()) {
  parser_.header_limit(8 * 1024);
  parser_.body_limit(64 * 1024);
}

Session::~Session() { leave(); }

void Session::leave() {
  if (auto left = std::exchange(owner_.left, nullptr)) left();
}

void Session::abandon() {
  owner_ = {};
  close();
}

void Session::serve(std::chrono::milliseconds request_time) {
  arm(request_time);
  http::async_read(socket_, buffer_, parser_,
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
  auto request = request_of(parser_.get());
  if (!request) return refuse(std::move(request.error()));
  stage_ = Stage::asked;
  deadline_.cancel();
  if (owner_.asked) owner_.asked();
  const auto waits = [weak = weak_from_this()] {
    const auto self = weak.lock();
    return self && self->stage_ == Stage::asked;
  };
  const auto tell = [weak = weak_from_this(), waits](Response response) {
    if (waits()) weak.lock()->answer(std::move(response), Stage::closed);
  };
  owner_.handler(*request, Respond(tell, waits));
  if (stage_ == Stage::asked) wait_for_the_end();
}

// The kernel tells when the other side has let go of its socket. One that has only ended what it
// sends still reads.
void Session::wait_for_the_end() {
  socket_.async_wait(Socket::wait_error, [self = shared_from_this()](const beast::error_code&) {
    if (self->stage_ == Stage::asked) self->close();
  });
}

void Session::refuse(Response response) {
  leave();
  answer(std::move(response), Stage::parting);
}

void Session::answer(Response response, Stage next) {
  beast::error_code ignored;
  socket_.cancel(ignored);
  stage_ = Stage::answering;
  answer_.result(static_cast<unsigned>(response.status));
  answer_.version(11);
  answer_.set(http::field::content_type, response.content_type);
  for (const auto& [key, value] : response.headers) answer_.set(key, value);
  answer_.keep_alive(false);
  answer_.body() = std::move(response.body);
  answer_.prepare_payload();
  arm(write_timeout);
  http::async_write(socket_, answer_,
                    [self = shared_from_this(), next](const beast::error_code& error, std::size_t) {
                      if (self->stage_ != Stage::answering) return;
                      if (error || next == Stage::closed) return self->close();
                      self->stage_ = next;
                      self->arm(parting_time);
                      beast::error_code gone;
                      self->socket_.shutdown(Socket::shutdown_send, gone);
                      self->part();
                    });
}

void Session::part() {
  socket_.async_read_some(boost::asio::buffer(dropped_),
                          [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                            if (self->stage_ != Stage::parting) return;
                            if (error) return self->close();
                            self->part();
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
  // Set anew while this call was on its way.
  if (deadline_.expiry() > std::chrono::steady_clock::now()) return;
  if (stage_ == Stage::reading) {
    return refuse(error_response(
        408, {ErrorKind::transient, "the request was not finished in time", "", ""}));
  }
  if (stage_ != Stage::asked) close();
}

}  // namespace trainward::api
