// Compiles programs, or takes them from the cache where the plugin can load what it has compiled.
//
// Of several processes that want the same program, one compiles it and the others find it. Whether
// a plugin loads what it serializes is tried with the first program it compiles and remembered in
// the cache; for one that does not (Tenstorrent's), nothing is serialized again. Nothing about the
// cache is an error: what goes wrong there means compiling.
//
// Used on the client's thread; refers to the client and the cache.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/program_cache/program_cache.hpp"
#include "trainer/pjrt/pjrt_client.hpp"
#include "trainer/pjrt/platform.hpp"

namespace trainward::pjrt {

// A plugin as it tells itself apart from its other versions.
struct PluginIdentity {
  int major = 0;
  int minor = 0;
  std::string digest;  // of its file
};

// What a compiled program is kept under: everything that could make it another program.
// 64 hexadecimal digits: SHA-256 over all of it, each part with its length in front.
std::string program_key(std::string_view text, std::string_view compile_options,
                        const Platform& platform, const PluginIdentity& plugin);

// What is remembered of a plugin on a platform: whether it loads what it serializes.
std::string plugin_key(const Platform& platform, const PluginIdentity& plugin);

// How one program was got.
struct Compiled {
  std::string name;
  std::string key;  // 64 hexadecimal digits
  bool hit = false;
  std::int64_t ms = 0;  // from being asked for it on: waiting for others, compiling, loading
  std::string dropped;  // why a cached one was thrown away; empty: none was
  std::string problem;  // why the cache could not be used; empty: it could, or is not wanted
};

class Compiler {
 public:
  // `cache` may be null: then everything is compiled. `told` hears of every program that was got;
  // `waiting` is called every second while another process compiles what is asked for.
  Compiler(Client& client, const ProgramCache* cache, std::function<void(const Compiled&)> told,
           std::function<void()> waiting = {});

  Outcome<Executable> get(const std::string& name, const std::string& text,
                          std::int64_t replicas = 1);

 private:
  [[nodiscard]] std::optional<bool> loads() const;
  [[nodiscard]] Result<ProgramLock> lock(const std::string& key) const;
  void remember_loads(bool loads, Compiled& about);
  Outcome<Executable> find_or_compile(const std::string& text, std::int64_t replicas,
                                      Compiled& about);
  std::optional<Executable> find(std::int64_t replicas, Compiled& about);
  void keep(const Executable& executable, Compiled& about);

  Client& client_;
  const ProgramCache* cache_;  // null also where the plugin's file cannot be read
  std::function<void(const Compiled&)> told_;
  std::function<void()> waiting_;
  PluginIdentity plugin_;
  std::string problem_;  // told with the first program
};

// One message of several, for Compiled::dropped and ::problem.
void add_reason(std::string& to, std::string_view reason);

}  // namespace trainward::pjrt
