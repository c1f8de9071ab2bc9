// Events: moments of the simulated chips, or of the host, whose are over.
#include <memory>

#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;

Answer<void> destroy(abi::Event_Destroy_Args& args) {
  dispose(args.event);
  return {};
}

bool has_happened(const abi::Event& event) {
  return event.alarm == nullptr || event.alarm->has_come(event.when);
}

Answer<void> is_ready(abi::Event_IsReady_Args& args) {
  args.is_ready = has_happened(*args.event);
  return {};
}

Answer<void> error(abi::Event_Error_Args& /*args*/) { return {}; }

Answer<void> await(abi::Event_Await_Args& args) {
  if (!has_happened(*args.event)) args.event->alarm->wait(args.event->when);
  return {};
}

// The callback may destroy the event.
Answer<void> on_ready(abi::Event_OnReady_Args& args) {
  const auto call = [callback = args.callback, with = args.user_arg] { callback(nullptr, with); };
  if (has_happened(*args.event)) {
    call();
  } else {
    const std::shared_ptr<Alarm> alarm = args.event->alarm;
    alarm->call(args.event->when, call);
  }
  return {};
}

}  // namespace

void bind_event_calls(abi::Api& api) {
  api.Event_Destroy = entry<&destroy>;
  api.Event_IsReady = entry<&is_ready>;
  api.Event_Error = entry<&error>;
  api.Event_Await = entry<&await>;
  api.Event_OnReady = entry<&on_ready>;
}

}  // namespace trainward::n300
