// What a client and everything made by it share: the plugin's client object, its devices, and the
// thread that owns them.
//
// Lifetime. The plugin's client is destroyed when the last of its Client, Buffers and Executables
// is gone, so nothing outlives it.
//
// Threads. Plugins may keep a client in storage of its thread, so all calls come from the thread
// that made the session. own() refuses others. What is given back on another thread is kept and
// destroyed at the owner's next call. A session whose last owner is destroyed on another thread
// leaves its client to the end of the process.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/pjrt/plugin.hpp"

namespace trainward::pjrt {

class Session {
 public:
  Session(std::shared_ptr<const Plugin> plugin, abi::Client* client)
      : plugin_(std::move(plugin)), client_(client) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // To be asked before every call but those that destroy.
  Outcome<void> own(const char* call);

  [[nodiscard]] const Plugin& plugin() const { return *plugin_; }
  [[nodiscard]] const std::shared_ptr<const Plugin>& shared_plugin() const { return plugin_; }
  [[nodiscard]] const Calls& calls() const { return plugin_->calls(); }
  [[nodiscard]] abi::Client* client() const { return client_; }

  using Object = std::variant<abi::Buffer*, abi::LoadedExecutable*, abi::Executable*, abi::Event*>;
  void give_back(Object object);

 private:
  void destroy(Object object);
  void destroy_kept();

  std::shared_ptr<const Plugin> plugin_;
  abi::Client* client_ = nullptr;
  std::thread::id owner_ = std::this_thread::get_id();
  std::mutex kept_mutex_;
  std::vector<Object> kept_;  // given back by other threads
};

// Owns one object of a session. Move-only; may be empty.
template <typename T>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<Session> session, T* object)
      : session_(std::move(session)), object_(object) {}
  Handle(Handle&& other) noexcept
      : session_(std::move(other.session_)), object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    Handle moved(std::move(other));
    std::swap(session_, moved.session_);
    std::swap(object_, moved.object_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (object_ != nullptr) session_->give_back(object_);
  }

  // Session::own, for a call with this object; also refused once the object is gone.
  Outcome<void> own(const char* call) const {
    if (object_ == nullptr) {
      return refuse(ErrorCode::failed_precondition, call, "it has been moved elsewhere");
    }
    return session_->own(call);
  }

  [[nodiscard]] T* get() const { return object_; }
  [[nodiscard]] Session& session() const { return *session_; }
  [[nodiscard]] const std::shared_ptr<Session>& shared_session() const { return session_; }

 private:
  std::shared_ptr<Session> session_;
  T* object_ = nullptr;
};

}  // namespace trainward::pjrt
