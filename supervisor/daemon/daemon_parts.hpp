// What the programs of one daemon share, and what lives as long as it does. Private to Daemon.
#pragma once

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/daemon/daemon.hpp"
#include "supervisor/daemon/hands/services.hpp"
#include "supervisor/daemon/loop/loop_clock.hpp"
#include "supervisor/daemon/records/store_database.hpp"

namespace trainward::daemon {

// In the order it must be made; torn down in the opposite order.
struct Daemon::Parts {
  Parts(Loop& loop_in, Options options_in, config::Config config_in, Fd lock_in,
        store::Store store_in, Paths paths)
      : loop(loop_in),
        options(std::move(options_in)),
        config(std::move(config_in)),
        lock(std::move(lock_in)),
        store(std::move(store_in)),
        watcher(loop_in, [this](const std::string& text) { note_watching(text); }),
        turns_clock(loop_in),
        database(store),
        turns(turns_clock, database),
        crash_rules(config.rules),
        machine(loop_in),
        background(loop_in),
        console(options.once),
        news(loop_in, store, config.notify.policy, config.state_dir),
        services{loop,    std::move(paths), store,      turns,   crash_rules,
                 machine, watcher,          background, console, news} {
    database.on_taking_again(
        [this](const Error& why, std::int64_t lasted_ms) { news.refused(why, lasted_ms); });
  }

  void note_watching(const std::string& text) {
    spdlog::warn("{}", text);
    if (auto ok = store.add_event({0, now().wall.ms, "", 0, "watch", text}); !ok) {
      spdlog::warn("{}", ok.error().message());
    }
  }

  Loop& loop;
  Options options;
  config::Config config;
  Fd lock;
  store::Store store;
  FileWatcher watcher;
  LoopClock turns_clock;
  StoreDatabase database;
  session::Turns turns;
  CrashRules crash_rules;
  Machine machine;
  Background background;
  Console console;
  News news;
  Services services;
};

// {"program", "result", "ok", "message"}
json::value command_answer(const std::string& program, std::string_view result, bool ok,
                           const std::string& message);

}  // namespace trainward::daemon
