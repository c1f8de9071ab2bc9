// What a screen shows, gathered by threads, so that keys never wait for a daemon.
//
// One thread looks once a second, and at once when something else is wanted; another carries out
// what the user asks for. What they find waits to be taken; ready() can be polled. Its end waits
// for a request that is under way, at most its deadline.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "common/os/fd.hpp"
#include "supervisor/ctl/base/context.hpp"
#include "supervisor/ctl/top/model.hpp"
#include "supervisor/ctl/top/ui.hpp"

namespace trainward::ctl::live {

struct Cost {
  top::Verb verb;
  std::string program;
  std::string text;
};
struct Outcome {
  std::string text;
};
using News = std::variant<top::Snapshot, Cost, Outcome>;

class Feed {
 public:
  // Kind transient when the system has no descriptor or no thread left.
  static Result<std::unique_ptr<Feed>> start(const Context& context, bool ascii);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed();

  void want(const top::Interest& interest);
  void ask(const top::AskCost& what);
  void carry_out(const top::Carry& what);

  [[nodiscard]] int ready() const { return ready_.get(); }
  std::vector<News> take();

 private:
  Feed(const Context& context, bool ascii, Fd ready);
  void look_again_and_again();
  void work();
  void tell(News news);
  [[nodiscard]] bool stopped();

  const Context& context_;
  bool ascii_;
  Fd ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool wanted_anew_ = false;
  top::Interest interest_;
  std::deque<std::function<News()>> work_;
  std::vector<News> news_;
  std::thread looker_;
  std::thread worker_;
};

}  // namespace trainward::ctl::live
