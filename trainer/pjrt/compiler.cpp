#include "trainer/pjrt/compiler.hpp"

#include <chrono>
#include <initializer_list>
#include <thread>

#include "common/base/digest.hpp"
#include "common/os/clock.hpp"
#include "trainer/pjrt/compile_options.hpp"
#include "trainer/pjrt/platform_record.hpp"

namespace trainward::pjrt {

namespace {

std::string digest_of(std::initializer_list<std::string_view> parts) {
  Sha256 sha;
  for (const std::string_view part : parts) {
    sha.update(std::to_string(part.size()) + ":");
    sha.update(part);
  }
  return sha.finish();
}

}  // namespace

std::string program_key(std::string_view text, std::string_view compile_options,
                        const Platform& platform, const PluginIdentity& plugin) {
  return digest_of({"program", text, compile_options, platform.name, platform.version,
                    std::to_string(plugin.major), std::to_string(plugin.minor), plugin.digest,
                    platform.device_kind, std::to_string(platform.device_count)});
}

std::string plugin_key(const Platform& platform, const PluginIdentity& plugin) {
  return digest_of({"plugin", platform.name, platform.version, plugin.digest});
}

void add_reason(std::string& to, std::string_view reason) {
  if (!to.empty()) to += "; ";
  to += reason;
}

Compiler::Compiler(Client& client, const ProgramCache* cache,
                   std::function<void(const Compiled&)> told, std::function<void()> waiting)
    : client_(client), cache_(cache), told_(std::move(told)), waiting_(std::move(waiting)) {
  plugin_ = {client.plugin().major(), client.plugin().minor(), {}};
  if (auto digest = client.plugin().digest()) {
    plugin_.digest = *digest;
  } else {
    // Programs of another version of the plugin would look like this one's.
    if (cache_ != nullptr) problem_ = digest.error().message();
    cache_ = nullptr;
  }
  if (cache_ == nullptr) return;
  if (auto kept = remember_platform(*cache_, plugin_.digest, client.platform()); !kept) {
    problem_ = kept.error().message();
  }
}

std::optional<bool> Compiler::loads() const {
  return cache_->loads(plugin_key(client_.platform(), plugin_));
}

void Compiler::remember_loads(bool loads, Compiled& about) {
  const auto& platform = client_.platform();
  const auto kept =
      cache_->remember_loads(plugin_key(platform, plugin_), loads,
                             fmt::format("{} {}, {}", platform.name, platform.version,
                                         client_.plugin().path().filename().string()));
  if (!kept) add_reason(about.problem, kept.error().message());
}

Outcome<Executable> Compiler::get(const std::string& name, const std::string& text,
                                  std::int64_t replicas) {
  const MonoTime asked = now().mono;
  Compiled about;
  about.name = name;
  about.key = program_key(text, compile_options(replicas), client_.platform(), plugin_);
  about.problem = std::exchange(problem_, {});
  auto executable = find_or_compile(text, replicas, about);
  about.ms = now().mono - asked;
  if (executable && told_) told_(about);
  return executable;
}

// The kernel could wait for us, but we would look dead meanwhile.
Result<ProgramLock> Compiler::lock(const std::string& key) const {
  constexpr std::chrono::milliseconds between_looks{50};
  constexpr std::int64_t between_signs_ms = 1000;
  MonoTime told = now().mono;
  for (;;) {
    auto held = cache_->try_lock(key);
    if (!held) return propagate(held);
    if (*held) return std::move(**held);
    std::this_thread::sleep_for(between_looks);
    if (!waiting_ || now().mono - told < between_signs_ms) continue;
    told = now().mono;
    waiting_();
  }
}

Outcome<Executable> Compiler::find_or_compile(const std::string& text, std::int64_t replicas,
                                              Compiled& about) {
  if (cache_ == nullptr || loads() == false) return client_.compile(text, replicas);
  // Held until the program is kept, however long that takes: compiling twice takes longer.
  const auto held = lock(about.key);
  if (!held) add_reason(about.problem, held.error().message());
  if (auto found = find(replicas, about)) return std::move(*found);
  auto compiled = client_.compile(text, replicas);
  if (compiled) keep(*compiled, about);
  return compiled;
}

std::optional<Executable> Compiler::find(std::int64_t replicas, Compiled& about) {
  auto bytes = cache_->find(about.key, &about.dropped);
  if (!bytes) add_reason(about.problem, bytes.error().message());
  if (!bytes || !*bytes) return std::nullopt;
  auto loaded = client_.load(**bytes, replicas);
  if (loaded) {
    about.hit = true;
    remember_loads(true, about);
    return std::move(*loaded);
  }
  if (loaded.error().code == ErrorCode::unimplemented) remember_loads(false, about);
  add_reason(about.dropped, to_error(loaded.error()).what);
  if (auto dropped = cache_->drop(about.key); !dropped) {
    add_reason(about.problem, dropped.error().message());
  }
  return std::nullopt;
}

void Compiler::keep(const Executable& executable, Compiled& about) {
  const auto known = loads();
  if (known == false) return;  // since find()
  const auto bytes = executable.serialize();
  if (!bytes) {
    if (bytes.error().code == ErrorCode::unimplemented) return remember_loads(false, about);
    return add_reason(about.problem, to_error(bytes.error()).what);
  }
  if (!known) {
    // What cannot be loaded is not worth a disk.
    const auto loaded = client_.load(*bytes, executable.replicas());
    if (loaded || loaded.error().code == ErrorCode::unimplemented) {
      remember_loads(loaded.has_value(), about);
    }
    if (!loaded) {
      if (loaded.error().code != ErrorCode::unimplemented) {
        add_reason(about.problem, to_error(loaded.error()).what);
      }
      return;
    }
  }
  const auto& platform = client_.platform();
  const auto kept = cache_->put(about.key, *bytes,
                                {about.name, platform.name + " " + platform.version,
                                 client_.plugin().path().filename().string()});
  if (!kept) add_reason(about.problem, kept.error().message());
}

}  // namespace trainward::pjrt
