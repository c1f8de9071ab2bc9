// One client of the API: its request is read, handed on, and answered; then the connection ends.
//
//   reading ─▶ asked ─▶ answering ─▶ (parting) ─▶ closed
//
// reading: the whole request must come in time, else 408. asked: the answer is awaited, and so is
// the client's end: when it is gone, nobody is answered. parting: after a refusal what the client
// still sends is read and dropped for a moment, or it would see a broken connection instead of the
// reason.
//
// Lives as long as something is awaited. Thread: the loop's.
#pragma once

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "supervisor/api/http.hpp"

namespace trainward::api {

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;
  struct Owner {
    Handler handler;
    std::function<void()> asked;  // the request is there
    std::function<void()> left;   // no answer is awaited any more
  };

  Session(Socket socket, Owner owner);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void serve(std::chrono::milliseconds request_time);
  // Answers at once, whatever it may want to ask.
  void refuse(Response response);
  // Ends the connection without a word.
  void close();
  // The same, and nothing of the owner is called any more.
  void abandon();

 private:
  enum class Stage { reading, asked, answering, parting, closed };

  void on_request(const boost::beast::error_code& error);
  void wait_for_the_end();
  void answer(Response response, Stage next);
  void part();
  void leave();
  void arm(std::chrono::milliseconds after);
  void on_deadline();

  Socket socket_;
  Owner owner_;
  Stage stage_ = Stage::reading;
  boost::asio::steady_timer deadline_;
  boost::beast::flat_buffer buffer_;
  boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
  boost::beast::http::response<boost::beast::http::string_body> answer_;
  std::array<char, 4096> dropped_{};
};

}  // namespace trainward::api
