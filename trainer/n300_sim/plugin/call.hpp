// From a function of ours to an entry of the plugin's table.
//
// `entry<&function>` is a function with C linkage's manners: it takes a pointer to the arguments,
// lets no exception out, prints a failure's report and answers with null or an Error that the
// caller destroys.
#pragma once

#include "trainer/n300_sim/plugin/plugin_failure.hpp"
#include "trainer/pjrt/abi.hpp"

namespace trainward::n300 {

// Prints the report.
pjrt::abi::Error* make_error(const Failure& failure) noexcept;
// Of the exception that is being handled.
pjrt::abi::Error* make_error_of_exception() noexcept;

template <auto Function>
struct Entry;
template <typename Args, Answer<void> (*Function)(Args&)>
struct Entry<Function> {
  static pjrt::abi::Error* call(Args* args) noexcept {
    try {
      const Answer<void> answer = Function(*args);
      return answer ? nullptr : make_error(answer.error());
    } catch (...) {
      return make_error_of_exception();
    }
  }
};
template <auto Function>
inline constexpr auto entry = &Entry<Function>::call;

// Each part of the plugin fills in its entries.
void bind_plugin_calls(pjrt::abi::Api& api);
void bind_event_calls(pjrt::abi::Api& api);
void bind_client_calls(pjrt::abi::Api& api);
void bind_device_calls(pjrt::abi::Api& api);
void bind_buffer_calls(pjrt::abi::Api& api);
void bind_transfer_calls(pjrt::abi::Api& api);
void bind_executable_calls(pjrt::abi::Api& api);
void bind_execute_calls(pjrt::abi::Api& api);
void bind_topology_calls(pjrt::abi::Api& api);

}  // namespace trainward::n300
