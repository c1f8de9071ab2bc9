#include "supervisor/process/unit/manager.hpp"

#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace trainward::unit {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr const char* destination = "org.freedesktop.systemd1";
constexpr const char* manager_path = "/org/freedesktop/systemd1";
constexpr const char* manager_interface = "org.freedesktop.systemd1.Manager";
constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";
constexpr const char* job_interface = "org.freedesktop.systemd1.Job";
constexpr const char* private_socket = "unix:path=/run/systemd/private";

struct BusError {
  BusError() = default;
  ~BusError() { sd_bus_error_free(&value); }
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  sd_bus_error value = SD_BUS_ERROR_NULL;

  [[nodiscard]] tl::unexpected<Error> failure(int code, std::string_view action,
                                              const std::string& where) const {
    if (value.message == nullptr) return fail_errno(-code, action, where);
    const bool taken = sd_bus_error_has_name(&value, "org.freedesktop.systemd1.UnitExists") > 0;
    return fail(taken ? ErrorKind::usage : ErrorKind::permanent,
                fmt::format("cannot {}: {}", action, value.message), where);
  }
};

struct Unref {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
using Message = std::unique_ptr<sd_bus_message, Unref>;
using Slot = std::unique_ptr<sd_bus_slot, Unref>;

struct Finished {
  std::string job;     // that is waited for; empty until it is known
  std::string result;  // of it; empty while it runs
};

int on_job_removed(sd_bus_message* message, void* data, sd_bus_error*) {
  auto& finished = *static_cast<Finished*>(data);
  std::uint32_t id = 0;
  const char* job = nullptr;
  const char* unit = nullptr;
  const char* result = nullptr;
  if (sd_bus_message_read(message, "uoss", &id, &job, &unit, &result) < 0) return 0;
  // The signal may be dispatched only after the answer that names the job, as both come in order.
  if (finished.job == job) finished.result = result;
  return 0;
}

}  // namespace

void Manager::Close::operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }

Result<Manager> Manager::connect(bool user, milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  sd_bus* opened = nullptr;
  int code = 0;
  if (user) {
    code = sd_bus_open_user(&opened);
  } else if (::geteuid() == 0 && ::access(private_socket + sizeof("unix:path=") - 1, F_OK) == 0) {
    code = sd_bus_new(&opened);
    if (code >= 0) code = sd_bus_set_address(opened, private_socket);
    if (code >= 0) code = sd_bus_start(opened);
  } else {
    code = sd_bus_open_system(&opened);
  }
  Bus bus(opened);
  if (code < 0) return fail_errno(-code, "reach systemd");
  sd_bus_set_method_call_timeout(
      bus.get(), static_cast<std::uint64_t>(duration_cast<microseconds>(deadline).count()));
  return Manager(std::move(bus), end);
}

Status Manager::queue_scope(const Scope& scope, pid_t process, std::string& job) {
  sd_bus_message* made = nullptr;
  int code = sd_bus_message_new_method_call(bus_.get(), &made, destination, manager_path,
                                            manager_interface, "StartTransientUnit");
  const Message call(made);
  if (code < 0) return fail_errno(-code, "ask for a scope", scope.name);
  const auto stop_usec =
      static_cast<std::uint64_t>(duration_cast<microseconds>(scope.stop_timeout).count());
  code = sd_bus_message_append(made, "ss", scope.name.c_str(), "fail");
  if (code >= 0) code = sd_bus_message_open_container(made, 'a', "(sv)");
  const auto add = [&](auto... arguments) {
    if (code >= 0) code = sd_bus_message_append(made, "(sv)", arguments...);
  };
  add("PIDs", "au", 1, static_cast<std::uint32_t>(process));
  add("Description", "s", scope.description.c_str());
  add("Slice", "s", scope.slice.c_str());
  // Gone from the list of units when it ends, however it ended.
  add("CollectMode", "s", "inactive-or-failed");
  add("TimeoutStopUSec", "t", stop_usec);
  // The shim may divide its control group; one process killed for memory is then not the end of
  // all.
  add("Delegate", "b", 1);
  add("TasksMax", "t", UINT64_MAX);
  // What starts first stops last: at shutdown the daemon stops the run, while the scope waits.
  if (!scope.stops_after.empty()) add("Before", "as", 1, scope.stops_after.c_str());
  if (code >= 0) code = sd_bus_message_close_container(made);
  if (code >= 0) code = sd_bus_message_append(made, "a(sa(sv))", 0);
  if (code < 0) return fail_errno(-code, "ask for a scope", scope.name);

  BusError error;
  sd_bus_message* answered = nullptr;
  code = sd_bus_call(bus_.get(), made, 0, &error.value, &answered);
  const Message answer(answered);
  if (code < 0) return error.failure(code, "make a scope", scope.name);
  const char* path = nullptr;
  code = sd_bus_message_read(answered, "o", &path);
  if (code < 0) return fail_errno(-code, "read systemd's answer", scope.name);
  job = path;
  return {};
}

Status Manager::start_scope(const Scope& scope, pid_t process) {
  Finished finished;
  sd_bus_slot* watching = nullptr;
  // Before the call: the job may be done when the answer arrives.
  const int code = sd_bus_match_signal(bus_.get(), &watching, nullptr, manager_path,
                                       manager_interface, "JobRemoved", on_job_removed, &finished);
  const Slot slot(watching);
  if (code < 0) return fail_errno(-code, "watch systemd's jobs", scope.name);
  if (auto queued = queue_scope(scope, process, finished.job); !queued) return queued;
  while (finished.result.empty()) {
    const int processed = sd_bus_process(bus_.get(), nullptr);
    if (processed < 0) return fail_errno(-processed, "wait for the scope", scope.name);
    if (processed > 0) continue;
    const auto left = duration_cast<microseconds>(deadline_ - Clock::now()).count();
    if (left <= 0) return fail(ErrorKind::transient, "systemd did not make it in time", scope.name);
    sd_bus_wait(bus_.get(), static_cast<std::uint64_t>(left));
  }
  if (finished.result == "done") return {};
  return fail(ErrorKind::transient, "systemd did not make it: " + finished.result, scope.name);
}

Result<std::string> Manager::job(const std::string& unit) {
  BusError error;
  sd_bus_message* reply = nullptr;
  int code = sd_bus_call_method(bus_.get(), destination, manager_path, manager_interface, "GetUnit",
                                &error.value, &reply, "s", unit.c_str());
  const Message unit_reply(reply);
  const char* path = nullptr;
  if (code >= 0) code = sd_bus_message_read(reply, "o", &path);
  if (code < 0) return error.failure(code, "find the unit", unit);

  reply = nullptr;
  code = sd_bus_get_property(bus_.get(), destination, path, unit_interface, "Job", &error.value,
                             &reply, "(uo)");
  const Message job_reply(reply);
  std::uint32_t id = 0;
  const char* job_path = nullptr;
  if (code >= 0) code = sd_bus_message_read(reply, "(uo)", &id, &job_path);
  if (code < 0) return error.failure(code, "ask for the unit's job", unit);
  if (id == 0) return std::string("none");

  char* text = nullptr;
  code = sd_bus_get_property_string(bus_.get(), destination, job_path, job_interface, "JobType",
                                    &error.value, &text);
  if (code < 0) return error.failure(code, "ask for the type of the unit's job", unit);
  const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
  return std::string(text);
}

Status Manager::stop(const std::string& unit) {
  BusError error;
  const int code =
      sd_bus_call_method(bus_.get(), destination, manager_path, manager_interface, "StopUnit",
                         &error.value, nullptr, "ss", unit.c_str(), "replace");
  if (code < 0) return error.failure(code, "stop the unit", unit);
  return {};
}

}  // namespace trainward::unit
