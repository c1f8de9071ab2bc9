#include "supervisor/courier/net/exchange.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::net {
namespace {

constexpr std::size_t most_header_bytes = 64 * 1024;
// Of an answer that tells an error: enough for its reason, whatever page is around it.
constexpr std::int64_t most_error_bytes = 64 * 1024;

bool is_success(int status) { return status >= 200 && status < 300; }

}  // namespace

std::int64_t Exchange::body_size() const {
  if (const auto* text = std::get_if<std::string>(&request_.body)) {
    return static_cast<std::int64_t>(text->size());
  }
  const auto* slice = std::get_if<FileSlice>(&request_.body);
  return slice == nullptr ? 0 : slice->size;
}

std::size_t Exchange::refuse(Error error, std::size_t code) {
  error_ = std::move(error);
  return code;
}

std::size_t Exchange::read_body(char* into, std::size_t size) {
  const std::int64_t left = body_size() - read_;
  const auto part = static_cast<std::size_t>(std::min<std::int64_t>(left, std::int64_t(size)));
  if (part == 0) return 0;
  if (const auto* text = std::get_if<std::string>(&request_.body)) {
    std::memcpy(into, text->data() + read_, part);
  } else {
    const auto& slice = std::get<FileSlice>(request_.body);
    const auto got =
        read_at(slice.descriptor, std::as_writable_bytes(std::span(into, part)),
                static_cast<std::uint64_t>(slice.offset + read_), "the file that is sent");
    if (!got) return refuse(got.error(), CURL_READFUNC_ABORT);
    if (*got == 0) {
      return refuse({ErrorKind::corrupt, "the file has become shorter while it was sent", "", ""},
                    CURL_READFUNC_ABORT);
    }
    read_ += static_cast<std::int64_t>(*got);
    return *got;
  }
  read_ += static_cast<std::int64_t>(part);
  return part;
}

int Exchange::rewind(std::int64_t to) {
  if (to < 0 || to > body_size()) return CURL_SEEKFUNC_FAIL;
  read_ = to;
  return CURL_SEEKFUNC_OK;
}

// Every line with its end. An answer may be preceded by others ("100 Continue").
std::size_t Exchange::take_header(std::string_view line) {
  const std::size_t size = line.size();
  header_bytes_ += size;
  if (header_bytes_ > most_header_bytes) {
    return refuse({ErrorKind::corrupt, "the headers of the answer are too long", "", ""}, 0);
  }
  if (line.starts_with("HTTP/")) {
    answer_.headers.clear();
    const std::size_t space = std::min(line.find(' '), line.size() - 1);
    answer_.status = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), answer_.status);
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;  // the empty line at the end
  answer_.headers.push_back(
      {lower_case(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1)))});
  return size;
}

std::size_t Exchange::take_body(std::string_view bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const bool success = is_success(answer_.status);
  if (success && !request_.cut_answer && received_ + size > request_.most_answer_bytes) {
    return refuse({ErrorKind::corrupt,
                   fmt::format("the answer is longer than {}",
                               human_bytes(static_cast<std::uint64_t>(request_.most_answer_bytes))),
                   "", "see whether the address is right"},
                  0);
  }
  if (!success || request_.cut_answer) {
    const std::int64_t room =
        std::min(request_.most_answer_bytes, most_error_bytes) - std::int64_t(answer_.body.size());
    answer_.body.append(bytes.substr(0, static_cast<std::size_t>(std::min(room, size))));
    has_enough_ = size > room;
    return has_enough_ ? 0 : bytes.size();
  }
  if (request_.into) {
    if (write_into_file(bytes) != bytes.size()) return 0;
  } else {
    answer_.body.append(bytes);
  }
  received_ += size;
  return bytes.size();
}

std::size_t Exchange::write_into_file(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto wrote = ::pwrite(*request_.into, bytes.data() + done, bytes.size() - done,
                                request_.into_offset + received_ + std::int64_t(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int number = wrote < 0 ? errno : ENOSPC;
      return refuse(fail_errno(number, "writing what is received").value(), 0);
    }
    done += static_cast<std::size_t>(wrote);
  }
  return done;
}

int Exchange::report(std::int64_t sent) {
  if (stop_.stop_requested()) return 1;
  const std::int64_t now = request_.into ? received_ : sent;
  if (progress_ && now != reported_) progress_(now);
  reported_ = now;
  return 0;
}

void Exchange::attach(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_READDATA, this);
  curl_easy_setopt(
      easy, CURLOPT_READFUNCTION, +[](char* into, std::size_t size, std::size_t count, void* data) {
        return static_cast<Exchange*>(data)->read_body(into, size * count);
      });
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, this);
  curl_easy_setopt(
      easy, CURLOPT_SEEKFUNCTION, +[](void* data, curl_off_t to, int origin) -> int {
        if (origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
        return static_cast<Exchange*>(data)->rewind(to);
      });
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(
      easy, CURLOPT_HEADERFUNCTION,
      +[](char* line, std::size_t size, std::size_t count, void* data) {
        return static_cast<Exchange*>(data)->take_header({line, size * count});
      });
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(
      easy, CURLOPT_WRITEFUNCTION,
      +[](char* bytes, std::size_t size, std::size_t count, void* data) {
        return static_cast<Exchange*>(data)->take_body({bytes, size * count});
      });
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(
      easy, CURLOPT_XFERINFOFUNCTION,
      +[](void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) -> int {
        return static_cast<Exchange*>(data)->report(sent);
      });
}

}  // namespace trainward::net
