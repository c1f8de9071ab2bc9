#include "trainer/pjrt/calls.hpp"

#include <algorithm>
#include <cstring>

namespace trainward::pjrt {

Calls::Calls(const abi::Api& api) : newer_(api.pjrt_api_version.minor_version > abi::api_minor) {
  std::memcpy(&table_, &api, std::min(api.struct_size, sizeof(abi::Api)));
}

tl::unexpected<DeviceError> Calls::refuse_absent(const char* name) {
  return refuse(ErrorCode::unimplemented, name, "the plugin does not have this call");
}

void Calls::destroy(abi::Error* error) const {
  if (error == nullptr || table_.Error_Destroy == nullptr) return;
  Padded<abi::Error_Destroy_Args> args;
  args.value.struct_size = size_of<abi::Error_Destroy_Args>();
  args.value.error = error;
  table_.Error_Destroy(&args.value);
}

ErrorCode Calls::code_of(abi::Error* error) const {
  if (table_.Error_GetCode == nullptr) return ErrorCode::unknown;
  Padded<abi::Error_GetCode_Args> args;
  args.value.struct_size = size_of<abi::Error_GetCode_Args>();
  args.value.error = error;
  // That it could not say is not the failure to report.
  abi::Error* second = table_.Error_GetCode(&args.value);
  destroy(second);
  const int code = args.value.code;
  const bool known = code >= static_cast<int>(ErrorCode::cancelled) &&
                     code <= static_cast<int>(ErrorCode::unauthenticated);
  return second == nullptr && known ? static_cast<ErrorCode>(code) : ErrorCode::unknown;
}

std::string Calls::text_of(abi::Error* error) const {
  if (table_.Error_Message == nullptr) return {};
  Padded<abi::Error_Message_Args> args;
  args.value.struct_size = size_of<abi::Error_Message_Args>();
  args.value.error = error;
  table_.Error_Message(&args.value);
  if (args.value.message == nullptr) return {};
  return {args.value.message, args.value.message_size};
}

tl::unexpected<DeviceError> Calls::take(abi::Error* error, const char* name) const {
  DeviceError taken{code_of(error), name, text_of(error)};
  destroy(error);
  return tl::unexpected<DeviceError>(std::move(taken));
}

Outcome<void> Calls::await(abi::Event* event, const char* name) const {
  if (event == nullptr) return {};
  abi::Event_Await_Args args{};
  args.event = event;
  if (!has(&abi::Api::Event_Await)) name = "Event_Await";
  auto done = make(&abi::Api::Event_Await, name, args);
  destroy(event);
  return done;
}

void Calls::destroy(abi::Event* event) const {
  if (event == nullptr) return;
  abi::Event_Destroy_Args args{};
  args.event = event;
  // The error is not actionable; it is destroyed with the outcome.
  (void)make(&abi::Api::Event_Destroy, "Event_Destroy", args);
}

}  // namespace trainward::pjrt
