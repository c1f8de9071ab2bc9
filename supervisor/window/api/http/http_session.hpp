// One client of the API: its requests are read, handed on, and answered, one after the other.
//
//   reading ─▶ asked ─▶ answering ─▶ (streaming) ─▶ closed
//      ▲                    ├──▶ resting: the connection stays open for the next request
//      └────────────────────┘    parting ─▶ closed
//
// reading: the whole request must come in time, else 408. asked: the answer is awaited, and so is
// the client's end: when it is gone, nobody is answered; a request that it has sent meanwhile waits
// its turn. streaming: pieces go out as they come. resting: the next request may begin for a while.
// parting: after a refusal what the client still sends is read and dropped for a moment, or it
// would see a broken connection instead of the reason.
//
// Lives as long as something is awaited. Thread: the loop's.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "supervisor/window/api/http/connection.hpp"
#include "supervisor/window/api/http/guard.hpp"
#include "supervisor/window/api/http/http.hpp"
#include "supervisor/window/api/http/http_pipe.hpp"
#include "supervisor/window/api/http/patience.hpp"

namespace trainward::api {

class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Owner {
    Handler handler;
    std::shared_ptr<const Guard> guard;
    std::function<void()> asked;  // a request is there
    std::function<void()> rests;  // it was answered, and another may come
    std::function<void()> left;   // no answer is awaited
  };
  static constexpr int most_requests = 1'000;  // of one connection

  Session(Socket socket, Owner owner);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void serve(const Patience& patience);
  // Answers at once, whatever it may want to ask.
  void refuse(Response response);
  // Ends the connection without a word.
  void close();
  // The same, and no callback of the owner is called afterwards.
  void abandon();
  [[nodiscard]] bool resting() const { return stage_ == Stage::resting; }

 private:
  enum class Stage { reading, asked, answering, streaming, resting, parting, closed };

  void read();
  void on_request(const boost::beast::error_code& error);
  void hand_on(const Request& request);
  void wait_for_the_end();
  void answer(Response response, Stage next);
  void answered(const boost::beast::error_code& error, Stage next);
  void rest();
  void stream();
  void pump();
  void part();
  void drop_what_comes();
  void leave();
  void arm(std::chrono::milliseconds after);
  void on_deadline();

  Socket socket_;
  Owner owner_;
  Peer peer_;
  Patience patience_;
  Stage stage_ = Stage::reading;
  boost::asio::steady_timer deadline_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::string path_;  // of the newest request
  bool only_head_ = false;
  bool old_ = false;  // HTTP/1.0
  bool keep_ = false;
  int requests_ = 0;
  std::string head_;
  std::string body_;
  std::shared_ptr<Pipe> pipe_;
  bool pumping_ = false;
  bool writing_ = false;
  std::array<char, 4096> dropped_{};
};

}  // namespace trainward::api
