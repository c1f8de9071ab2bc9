// Errors, and the plugin itself.
#include <array>
#include <exception>
#include <memory>

#include "trainer/n300_sim/device_text.hpp"
#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"

namespace trainward::n300 {

namespace abi = pjrt::abi;

abi::Error* make_error(const Failure& failure) noexcept {
  print_report(failure.report);
  return std::make_unique<abi::Error>(abi::Error{failure.code, failure.text}).release();
}

abi::Error* make_error_of_exception() noexcept {
  try {
    throw;
  } catch (const std::exception& exception) {
    return make_error(fail_internally(fmt::format("Exception: {}", exception.what())).value());
  } catch (...) {
    return make_error(fail_internally("an exception that says nothing").value());
  }
}

namespace {

void destroy_error(abi::Error_Destroy_Args* args) { dispose(args->error); }

void error_message(abi::Error_Message_Args* args) {
  args->message = args->error->text.data();
  args->message_size = args->error->text.size();
}

Answer<void> error_code(abi::Error_GetCode_Args& args) {
  args.code = args.error->code;
  return {};
}

Answer<void> initialize(abi::Plugin_Initialize_Args& /*args*/) { return {}; }

// The versions of StableHLO whose text is understood, as lists of three numbers.
Answer<void> attributes(abi::Plugin_Attributes_Args& args) {
  static constexpr std::array<std::int64_t, 3> current = {1, 17, 0};
  static constexpr std::array<std::int64_t, 3> oldest = {1, 0, 0};
  static const auto list = [] {
    const auto version = [](std::string_view name, const std::array<std::int64_t, 3>& numbers) {
      abi::NamedValue value{};
      value.struct_size = sizeof(value);
      value.name = name.data();
      value.name_size = name.size();
      value.type = abi::NamedValue_Int64List;
      value.int64_array_value = numbers.data();
      value.value_size = numbers.size();
      return value;
    };
    return std::array{version("stablehlo_current_version", current),
                      version("stablehlo_minimum_version", oldest)};
  }();
  args.attributes = list.data();
  args.num_attributes = list.size();
  return {};
}

}  // namespace

void bind_plugin_calls(abi::Api& api) {
  api.Error_Destroy = destroy_error;
  api.Error_Message = error_message;
  api.Error_GetCode = entry<&error_code>;
  api.Plugin_Initialize = entry<&initialize>;
  api.Plugin_Attributes = entry<&attributes>;
}

}  // namespace trainward::n300
