// One request on its way, seen from libcurl's callbacks: where the body is read from, where the
// answer goes, and what went wrong on this side.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "supervisor/courier/net/http_client.hpp"

namespace trainward::net {

class Exchange {
 public:
  // Borrows all of it.
  Exchange(const Request& request, const HttpClient::Progress& progress,
           const std::stop_token& stop)
      : request_(request), progress_(progress), stop_(stop) {}

  // Has libcurl call this object, which must stay where it is until the transfer has ended.
  void attach(CURL* easy);

  [[nodiscard]] bool has_body() const { return request_.body.index() != 0; }
  [[nodiscard]] std::int64_t body_size() const;
  // What this side has to say about a transfer that failed; nothing: libcurl knows.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  // The answer has ended as far as anybody reads it: the rest of an error's text was left out.
  [[nodiscard]] bool has_enough() const { return has_enough_; }
  [[nodiscard]] Answer& answer() { return answer_; }

 private:
  std::size_t read_body(char* into, std::size_t size);
  int rewind(std::int64_t to);
  std::size_t take_header(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  std::size_t write_into_file(std::string_view bytes);
  int report(std::int64_t sent);
  std::size_t refuse(Error error, std::size_t code);

  const Request& request_;
  const HttpClient::Progress& progress_;
  const std::stop_token& stop_;
  Answer answer_;
  std::optional<Error> error_;
  std::int64_t read_ = 0;      // of the request's body
  std::int64_t received_ = 0;  // of the answer's
  std::int64_t reported_ = -1;
  std::size_t header_bytes_ = 0;
  bool has_enough_ = false;
};

}  // namespace trainward::net
