// Clients from the moment they connect: who is served and who is turned away, with the reason for
// them and a line for the log.
//
// Thread: the loop's. Sessions that still wait are abandoned with this object.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/window/api/http/http_session.hpp"
#include "supervisor/window/api/http/places.hpp"

namespace trainward::api {

// A warning that may have thousands of causes: the first at once, then at most one a minute, with
// how many there were.
class Complaint {
 public:
  void add(const std::string& what);

 private:
  std::optional<std::chrono::steady_clock::time_point> said_;
  std::size_t unsaid_ = 0;
};

// 503, with a word when to try again.
Response turned_away(const std::string& why);

class Doorkeeper {
 public:
  Doorkeeper(Handler handler, Guard guard, const Patience& patience);
  ~Doorkeeper();
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  void let_in(Socket socket);

 private:
  void make_room(Places::Client client, const std::string& visitor);
  void turn_away(const std::shared_ptr<Session>& session, const std::string& why);

  Handler handler_;
  std::shared_ptr<const Guard> guard_;
  Patience patience_;
  Places places_;
  Places::Client next_ = 0;
  std::map<Places::Client, std::weak_ptr<Session>> sessions_;
  std::vector<std::weak_ptr<Session>> parting_;
  Complaint complaint_;
};

}  // namespace trainward::api
