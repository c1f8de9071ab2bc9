#include "supervisor/window/api/http/doorkeeper.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace trainward::api {
namespace {

// Who is told why while there is no place; beyond that a connection just ends.
constexpr std::size_t most_parting = 32;
constexpr auto between_complaints = std::chrono::minutes(1);

}  // namespace

void Complaint::add(const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  ++unsaid_;
  if (said_ && now - *said_ < between_complaints) return;
  spdlog::warn("the API: {}{}", what,
               unsaid_ > 1 ? fmt::format(" ({} times since it was last said)", unsaid_) : "");
  said_ = now;
  unsaid_ = 0;
}

Response turned_away(const std::string& why) {
  return failed(
      {ErrorKind::transient, why, "", "try again in a moment; `ss -xtp` shows who is there"}, 400);
}

Doorkeeper::Doorkeeper(Handler handler, Guard guard, const Patience& patience)
    : handler_(std::move(handler)),
      guard_(std::make_shared<const Guard>(std::move(guard))),
      patience_(patience) {}

Doorkeeper::~Doorkeeper() {
  for (const auto& [client, waiting] : std::exchange(sessions_, {})) {
    if (const auto session = waiting.lock()) session->abandon();
  }
  for (const auto& leaving : parting_) {
    if (const auto session = leaving.lock()) session->abandon();
  }
}

void Doorkeeper::let_in(Socket socket) {
  const Places::Visitor visitor = visitor_of(peer_of(socket.native_handle()));
  const Places::Client client = ++next_;
  const Places::Verdict verdict = places_.admit(client, visitor);
  if (!verdict.refusal.empty()) {
    complaint_.add(
        fmt::format("a client of {} was turned away: {}", visitor.name, verdict.refusal));
    return turn_away(std::make_shared<Session>(std::move(socket), Session::Owner{}),
                     verdict.refusal);
  }
  if (verdict.displaced) make_room(*verdict.displaced, visitor.name);
  auto session = std::make_shared<Session>(
      std::move(socket), Session::Owner{handler_, guard_, [this, client] { places_.asked(client); },
                                        [this, client] { places_.rests(client); },
                                        [this, client] {
                                          places_.left(client);
                                          sessions_.erase(client);
                                        }});
  sessions_.emplace(client, session);
  session->serve(patience_);
}

// One that was served before and rests expects to be closed at any time; to another it is said why.
void Doorkeeper::make_room(Places::Client client, const std::string& visitor) {
  const auto idle = sessions_.at(client).lock();
  if (!idle) return;
  if (idle->resting()) return idle->close();
  complaint_.add(fmt::format("a client that had asked for nothing made room for {}", visitor));
  turn_away(idle, "another client took the place before this one sent its request");
}

void Doorkeeper::turn_away(const std::shared_ptr<Session>& session, const std::string& why) {
  std::erase_if(parting_, [](const auto& other) { return other.expired(); });
  if (parting_.size() >= most_parting) return session->close();
  parting_.push_back(session);
  session->refuse(turned_away(why));
}

}  // namespace trainward::api
