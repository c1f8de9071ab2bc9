// Events, all of which have happened.
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

Answer<void> is_ready(abi::Event_IsReady_Args& args) {
  args.is_ready = true;
  return {};
}

Answer<void> error(abi::Event_Error_Args& /*args*/) { return {}; }
Answer<void> await(abi::Event_Await_Args& /*args*/) { return {}; }

Answer<void> on_ready(abi::Event_OnReady_Args& args) {
  args.callback(nullptr, args.user_arg);
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
