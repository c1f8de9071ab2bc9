#include "supervisor/window/api/http/http_pipe.hpp"

#include <utility>

namespace trainward::api {

bool Pipe::send(std::string_view piece) {
  check();
  if (!open()) return false;
  if (queued_.size() + piece.size() > most_queued) {
    close();
    return false;
  }
  queued_ += piece;
  tell();
  return open();
}

void Pipe::end() {
  if (!open()) return;
  ended_ = true;
  tell();
}

void Pipe::only_while(std::function<bool()> holds) {
  holds_ = std::move(holds);
  check();
}

void Pipe::check() {
  if (open() && holds_ && !holds_()) end();
}

void Pipe::attach(std::function<void()> news) {
  news_ = std::move(news);
  tell();
}

std::string Pipe::take() {
  std::string all = std::exchange(queued_, {});
  if (all.empty() && open() && drained_) {
    drained_();  // which may send
    all = std::exchange(queued_, {});
  }
  return all;
}

void Pipe::close() {
  if (std::exchange(closed_, true)) return;
  queued_ = {};
  drained_ = nullptr;
  holds_ = nullptr;
  tell();
  news_ = nullptr;
}

// A copy: the call may close the pipe.
void Pipe::tell() {
  if (const auto news = news_) news();
}

}  // namespace trainward::api
