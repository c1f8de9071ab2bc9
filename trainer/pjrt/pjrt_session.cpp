#include "trainer/pjrt/pjrt_session.hpp"

namespace trainward::pjrt {

Session::~Session() {
  if (std::this_thread::get_id() != owner_) return;
  destroy_kept();
  abi::Client_Destroy_Args args{};
  args.client = client_;
  // What went wrong while destroying leaves nothing to do for anybody.
  (void)calls().make(&abi::Api::Client_Destroy, "Client_Destroy", args);
}

Outcome<void> Session::own(const char* call) {
  if (std::this_thread::get_id() != owner_) {
    return refuse(ErrorCode::failed_precondition, call,
                  "only the thread that made the client may use it");
  }
  destroy_kept();
  return {};
}

void Session::give_back(Object object) {
  if (std::this_thread::get_id() == owner_) {
    destroy(object);
    return;
  }
  const std::lock_guard lock(kept_mutex_);
  kept_.push_back(object);
}

void Session::destroy_kept() {
  std::vector<Object> kept;
  {
    const std::lock_guard lock(kept_mutex_);
    kept.swap(kept_);
  }
  for (const Object& object : kept) destroy(object);
}

// Runs in destructors, so not by std::visit, which might throw. What fails here leaves nothing to
// do.
void Session::destroy(Object object) {
  if (const auto* buffer = std::get_if<abi::Buffer*>(&object)) {
    abi::Buffer_Destroy_Args args{};
    args.buffer = *buffer;
    (void)calls().make(&abi::Api::Buffer_Destroy, "Buffer_Destroy", args);
  } else if (const auto* loaded = std::get_if<abi::LoadedExecutable*>(&object)) {
    abi::LoadedExecutable_Destroy_Args args{};
    args.executable = *loaded;
    (void)calls().make(&abi::Api::LoadedExecutable_Destroy, "LoadedExecutable_Destroy", args);
  } else if (const auto* executable = std::get_if<abi::Executable*>(&object)) {
    abi::Executable_Destroy_Args args{};
    args.executable = *executable;
    (void)calls().make(&abi::Api::Executable_Destroy, "Executable_Destroy", args);
  } else if (const auto* event = std::get_if<abi::Event*>(&object)) {
    calls().destroy(*event);
  }
}

}  // namespace trainward::pjrt
