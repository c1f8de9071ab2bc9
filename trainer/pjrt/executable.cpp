#include "trainer/pjrt/executable.hpp"

#include <algorithm>

namespace trainward::pjrt {
namespace {

constexpr const char* run_call = "LoadedExecutable_Execute";

}  // namespace

Outcome<Executable> Executable::take(const std::shared_ptr<Session>& session,
                                     abi::LoadedExecutable* loaded, std::int64_t replicas) {
  Handle<abi::LoadedExecutable> owned(session, loaded);
  abi::LoadedExecutable_GetExecutable_Args description{};
  description.loaded_executable = loaded;
  auto asked = session->calls().make(&abi::Api::LoadedExecutable_GetExecutable,
                                     "LoadedExecutable_GetExecutable", description);
  if (!asked) return propagate(asked);
  Handle<abi::Executable> described(session, description.executable);
  abi::Executable_NumOutputs_Args outputs{};
  outputs.executable = description.executable;
  asked = session->calls().make(&abi::Api::Executable_NumOutputs, "Executable_NumOutputs", outputs);
  if (!asked) return propagate(asked);
  return Executable(std::move(owned), std::move(described), outputs.num_outputs, replicas);
}

Outcome<std::string> Executable::serialize() const {
  if (auto owned = loaded_.own("Executable_Serialize"); !owned) return propagate(owned);
  return pjrt::serialize(loaded_.session().calls(), description_.get());
}

Outcome<std::string> serialize(const Calls& calls, const abi::Executable* executable) {
  abi::Executable_Serialize_Args args{};
  args.executable = executable;
  auto done = calls.make(&abi::Api::Executable_Serialize, "Executable_Serialize", args);
  if (!done) return propagate(done);
  std::string bytes;
  if (args.serialized_bytes != nullptr) {
    bytes.assign(args.serialized_bytes, args.serialized_bytes_size);
  }
  if (args.serialized_executable_deleter != nullptr) {
    args.serialized_executable_deleter(args.serialized_executable);
  }
  return bytes;
}

Outcome<void> Executable::check(std::span<const std::vector<const Buffer*>> arguments) const {
  if (arguments.size() != static_cast<std::size_t>(replicas_)) {
    return refuse(ErrorCode::invalid_argument, run_call,
                  fmt::format("the program runs on {} devices, there are arguments for {}",
                              replicas_, arguments.size()));
  }
  for (const auto& row : arguments) {
    if (row.size() != arguments.front().size()) {
      return refuse(ErrorCode::invalid_argument, run_call,
                    "the devices have different numbers of arguments");
    }
    const bool foreign = std::any_of(row.begin(), row.end(), [&](const Buffer* buffer) {
      return buffer == nullptr || buffer->get() == nullptr || !buffer->is_of(loaded_.session());
    });
    if (foreign) {
      return refuse(ErrorCode::invalid_argument, run_call,
                    "an argument is missing, or belongs to another client");
    }
  }
  return {};
}

Outcome<std::vector<std::vector<Buffer>>> Executable::run(
    std::span<const std::vector<const Buffer*>> arguments,
    std::optional<Completion>* completion) const {
  if (auto owned = loaded_.own(run_call); !owned) return propagate(owned);
  if (auto checked = check(arguments); !checked) return propagate(checked);

  const std::size_t devices = arguments.size();
  const std::size_t inputs = arguments.front().size();
  std::vector<abi::Buffer*> given;
  given.reserve(devices * inputs);
  for (const auto& row : arguments) {
    for (const Buffer* buffer : row) given.push_back(buffer->get());
  }
  std::vector<abi::Buffer*> made(devices * outputs_, nullptr);
  std::vector<abi::Buffer* const*> given_rows;
  std::vector<abi::Buffer**> made_rows;
  for (std::size_t device = 0; device < devices; ++device) {
    given_rows.push_back(given.data() + device * inputs);
    made_rows.push_back(made.data() + device * outputs_);
  }

  const Calls& calls = loaded_.session().calls();
  Padded<abi::ExecuteOptions> options;
  options.value.struct_size = calls.size_of<abi::ExecuteOptions>();
  abi::LoadedExecutable_Execute_Args args{};
  args.executable = loaded_.get();
  args.options = &options.value;
  args.argument_lists = given_rows.data();
  args.num_devices = devices;
  args.num_args = inputs;
  args.output_lists = made_rows.data();
  std::vector<abi::Event*> ends(completion != nullptr ? devices : 0, nullptr);
  if (completion != nullptr) args.device_complete_events = ends.data();
  auto done = calls.make(&abi::Api::LoadedExecutable_Execute, run_call, args);
  if (!done) return propagate(done);
  if (completion != nullptr) *completion = Completion::take(loaded_.shared_session(), ends);

  std::vector<std::vector<Buffer>> results(devices);
  bool complete = true;
  for (std::size_t device = 0; device < devices; ++device) {
    for (std::size_t k = 0; k < outputs_; ++k) {
      complete = complete && made_rows[device][k] != nullptr;
      results[device].emplace_back(
          Handle<abi::Buffer>(loaded_.shared_session(), made_rows[device][k]));
    }
  }
  if (!complete) {
    return refuse(ErrorCode::internal, run_call, "the plugin did not give every result");
  }
  return results;
}

}  // namespace trainward::pjrt
