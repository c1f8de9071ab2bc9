// A plugin's client: the devices of this machine, and what is made for them.
//
// One thread makes, uses and destroys it, with all that it made; another thread's call is an error
// (failed_precondition). What it made may be destroyed after it. Errors are the plugin's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/graph/type.hpp"
#include "trainer/pjrt/buffer.hpp"
#include "trainer/pjrt/executable.hpp"
#include "trainer/pjrt/named_values.hpp"
#include "trainer/pjrt/pjrt_session.hpp"
#include "trainer/pjrt/platform.hpp"

namespace trainward::pjrt {

// Memory of the host that devices reach by themselves while this lives: uploads from it and
// downloads into it need no copy on the way. The client's thread only; goes before the memory.
class MappedMemory {
 public:
  // Every page of it is touched. No two mapped pieces may share a page. `unimplemented` where the
  // plugin has no such thing.
  static Outcome<MappedMemory> map(const std::shared_ptr<Session>& session,
                                   std::span<std::byte> memory);

  MappedMemory(MappedMemory&& other) noexcept
      : session_(std::move(other.session_)), data_(std::exchange(other.data_, nullptr)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(session_, other.session_);
    std::swap(data_, other.data_);
    return *this;
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

 private:
  MappedMemory(std::shared_ptr<Session> session, std::byte* data)
      : session_(std::move(session)), data_(data) {}

  std::shared_ptr<Session> session_;
  std::byte* data_ = nullptr;
};

// Of one device, in bytes.
struct MemoryStats {
  std::int64_t in_use = 0;
  std::optional<std::int64_t> peak;
  std::optional<std::int64_t> limit;
};

class Client {
 public:
  static Outcome<std::unique_ptr<Client>> create(std::shared_ptr<const Plugin> plugin,
                                                 std::span<const ClientOption> options = {});

  [[nodiscard]] const Platform& platform() const { return platform_; }
  [[nodiscard]] const std::string& platform_name() const { return platform_.name; }
  [[nodiscard]] const std::string& platform_version() const { return platform_.version; }
  [[nodiscard]] const std::string& device_kind() const { return platform_.device_kind; }
  // Those this process can use.
  [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
  [[nodiscard]] const Plugin& plugin() const { return session_->plugin(); }

  // Programs run on the first `replicas` devices. Compiling may take an hour.
  Outcome<Executable> compile(std::string_view stablehlo, std::int64_t replicas = 1);
  // What Executable::serialize gave, of the same plugin and kind of device.
  Outcome<Executable> load(std::string_view serialized, std::int64_t replicas = 1);

  // `data` is dense and row-major, and the caller's again when this returns.
  Outcome<Buffer> upload(std::size_t device, const graph::Type& type, const void* data);

  // The same without a wait: the plugin reads `data` until `done` has happened (null: it has),
  // which is the caller's. Uploads keeps account of that.
  Outcome<Buffer> begin_upload(std::size_t device, const graph::Type& type, const void* data,
                               abi::Event*& done);

  Outcome<MappedMemory> map(std::span<std::byte> memory) {
    return MappedMemory::map(session_, memory);
  }

  // Nothing where the plugin does not tell.
  [[nodiscard]] std::optional<MemoryStats> memory(std::size_t device) const;

 private:
  explicit Client(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  Outcome<void> read_platform();
  Outcome<Buffer> upload(std::size_t device, const graph::Type& type, const void* data,
                         abi::HostBufferSemantics until, abi::Event*& done);
  [[nodiscard]] Outcome<void> check_replicas(const char* call, std::int64_t replicas) const;

  std::shared_ptr<Session> session_;
  Platform platform_;
  std::vector<abi::Device*> devices_;
};

}  // namespace trainward::pjrt
