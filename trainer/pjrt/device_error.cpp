#include "trainer/pjrt/device_error.hpp"

namespace trainward::pjrt {
namespace {

ErrorKind kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::cancelled:
    case ErrorCode::unknown:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::resource_exhausted:
    case ErrorCode::aborted:
    case ErrorCode::internal:
    case ErrorCode::unavailable:
    case ErrorCode::data_loss:
      return ErrorKind::transient;
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
    case ErrorCode::permission_denied:
    case ErrorCode::failed_precondition:
    case ErrorCode::out_of_range:
    case ErrorCode::unimplemented:
    case ErrorCode::unauthenticated:
      return ErrorKind::permanent;
  }
  return ErrorKind::permanent;
}

std::string_view hint_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::resource_exhausted:
      return "the device's memory is full: smaller micro-batches or recomputation need less";
    case ErrorCode::internal:
      return "the plugin may have written the reason to the worker's standard error";
    default:
      return {};
  }
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::cancelled:
      return "CANCELLED";
    case ErrorCode::unknown:
      return "UNKNOWN";
    case ErrorCode::invalid_argument:
      return "INVALID_ARGUMENT";
    case ErrorCode::deadline_exceeded:
      return "DEADLINE_EXCEEDED";
    case ErrorCode::not_found:
      return "NOT_FOUND";
    case ErrorCode::already_exists:
      return "ALREADY_EXISTS";
    case ErrorCode::permission_denied:
      return "PERMISSION_DENIED";
    case ErrorCode::resource_exhausted:
      return "RESOURCE_EXHAUSTED";
    case ErrorCode::failed_precondition:
      return "FAILED_PRECONDITION";
    case ErrorCode::aborted:
      return "ABORTED";
    case ErrorCode::out_of_range:
      return "OUT_OF_RANGE";
    case ErrorCode::unimplemented:
      return "UNIMPLEMENTED";
    case ErrorCode::internal:
      return "INTERNAL";
    case ErrorCode::unavailable:
      return "UNAVAILABLE";
    case ErrorCode::data_loss:
      return "DATA_LOSS";
    case ErrorCode::unauthenticated:
      return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

Error to_error(const DeviceError& error) {
  std::string what = fmt::format("{} in {}", to_string(error.code), error.call);
  if (!error.text.empty()) what += ": " + error.text;
  return Error{kind_of(error.code), std::move(what), {}, std::string(hint_for(error.code))};
}

}  // namespace trainward::pjrt
