#include "trainer/pjrt/completion.hpp"

#include <algorithm>

namespace trainward::pjrt {
namespace {

using Moment = Completion::Moment;
using Ended = std::atomic<Moment::rep>;

// What the plugin's callback needs, and gives back when it is called.
struct Waiting {
  std::shared_ptr<Ended> ended;
  std::shared_ptr<const Plugin> plugin;
};

void has_ended(abi::Error* error, void* argument) {
  const std::unique_ptr<Waiting> waiting(static_cast<Waiting*>(argument));
  waiting->ended->store(Moment::clock::now().time_since_epoch().count());
  if (error != nullptr) waiting->plugin->calls().destroy(error);
}

}  // namespace

std::optional<Completion> Completion::take(const std::shared_ptr<Session>& session,
                                           const std::vector<abi::Event*>& events) {
  Completion completion;
  for (abi::Event* event : events) {
    if (event != nullptr) completion.events_.emplace_back(session, event);
  }
  if (events.empty() || completion.events_.size() != events.size()) return std::nullopt;
  for (abi::Event* event : events) {
    auto ended = std::make_shared<Ended>(0);
    auto waiting = std::make_unique<Waiting>(Waiting{ended, session->shared_plugin()});
    abi::Event_OnReady_Args args{};
    args.event = event;
    args.callback = &has_ended;
    args.user_arg = waiting.get();
    auto asked = session->calls().make(&abi::Api::Event_OnReady, "Event_OnReady", args);
    if (!asked) return std::nullopt;
    (void)waiting.release();  // the callback's now
    completion.ended_.push_back(std::move(ended));
  }
  return completion;
}

std::optional<Moment> Completion::ended(std::size_t device) const {
  const Moment::rep at = ended_[device]->load();
  if (at == 0) return std::nullopt;
  return Moment(Moment::duration(at));
}

bool Completion::ended() const {
  return std::ranges::all_of(ended_, [](const auto& at) { return at->load() != 0; });
}

}  // namespace trainward::pjrt
