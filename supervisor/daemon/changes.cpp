// What the configuration file has that the daemon has not: told, and taken over, wholly or for one
// program.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "supervisor/daemon/base/program_diff.hpp"
#include "supervisor/daemon/daemon_parts.hpp"

namespace trainward::daemon {
namespace {

const config::Program* program_in(const config::Config& config, const std::string& name) {
  const auto found =
      std::find_if(config.programs.begin(), config.programs.end(),
                   [&](const config::Program& program) { return program.name == name; });
  return found == config.programs.end() ? nullptr : &*found;
}

void forget(config::Config& config, const std::string& name) {
  std::erase_if(config.programs,
                [&](const config::Program& program) { return program.name == name; });
}

// `config` with what `file` has of this one program.
void take_over(config::Config& config, const config::Config& file, const std::string& name) {
  forget(config, name);
  if (const config::Program* program = program_in(file, name)) config.programs.push_back(*program);
}

tl::unexpected<Error> unreadable(const Loaded& loaded) {
  return fail(ErrorKind::permanent, "the configuration has errors; nothing was changed",
              loaded.error().front().text(), "`trainwardctl config check` shows them all");
}

}  // namespace

Loaded Daemon::load_again() const { return read_configuration(parts_->options); }

Result<json::value> Daemon::reread() { return reread_answer(parts_->config, load_again()); }

void Daemon::update(const std::string& only, const std::string& by, Answer answer) {
  auto loaded = load_again();
  if (!loaded) return answer(reread_answer(parts_->config, loaded));
  ProgramDiff diff = compare(parts_->config, *loaded);
  if (only.empty()) {
    parts_->config = std::move(*loaded);
    access_.replace(keys_of(parts_->config.listening));
    parts_->news.take_over(parts_->config.notify.policy);
  } else {
    if (auto here = known(only); !here && program_in(*loaded, only) == nullptr) {
      return answer(propagate(here));
    }
    diff = diff.of(only);
    take_over(parts_->config, *loaded, only);
  }
  courier_.follow(parts_->config);
  note_request(only, "the configuration is read again", by);
  for (const std::string& name : diff.available) take_up(name);
  auto left = std::make_shared<std::size_t>(diff.changed.size() + diff.disappeared.size());
  auto stop_then = [this, left, by](const std::string& name, std::function<void(bool)> then) {
    const bool was_wanted = find(name)->state().wanted;
    find(name)->handle(core::StopRequested{.who = "update", .by = by});
    waiters_.emplace_back([this, name, left, was_wanted, by, then = std::move(then)] {
      ProgramRunner* runner = find(name);
      if (runner != nullptr && !runner->at_rest()) {
        if (runner->overtaken()) runner->handle(core::StopRequested{.who = "update", .by = by});
        return false;
      }
      if (runner != nullptr) then(was_wanted);  // else: removed by somebody meanwhile
      --*left;
      return true;
    });
  };
  for (const std::string& name : diff.disappeared) {
    stop_then(name, [this, name](bool) { remove_program(name); });
  }
  for (const std::string& name : diff.changed) {
    stop_then(name, [this, name, by](bool was_wanted) {
      take_up(name);
      if (was_wanted) find(name)->handle(core::StartRequested{.by = by});
    });
  }
  waiters_.emplace_back([left, diff, answer] {
    if (*left > 0 && answer.wanted()) return false;
    answer(update_answer(diff));
    return true;
  });
  on_change();
}

// As the configuration has it now.
void Daemon::take_up(const std::string& name) {
  if (const config::Program* program = program_in(parts_->config, name)) add_program(*program);
  if (auto ok = recover(name, parts_->options.once); !ok) spdlog::error(ok.error().message());
}

Result<json::value> Daemon::available() {
  const auto loaded = load_again();
  if (!loaded) return unreadable(loaded);
  std::map<std::string, const config::Program*> programs;
  for (const auto& [name, runner] : runners_) programs[name] = &runner->program();
  for (const config::Program& program : loaded->programs) programs[program.name] = &program;
  json::array rows;
  for (const auto& [name, program] : programs) {
    rows.push_back(json::object{
        {"name", name}, {"in_use", runners_.contains(name)}, {"autostart", program->autostart}});
  }
  return rows;
}

Result<json::value> Daemon::add(const std::string& name, const std::string& by) {
  if (shutting_down_) {
    return fail(ErrorKind::transient, "trainwardd is shutting down", name, "start it again");
  }
  if (runners_.contains(name)) return command_answer(name, "already active", false, "");
  const auto loaded = load_again();
  if (!loaded) return unreadable(loaded);
  if (program_in(*loaded, name) == nullptr) {
    return fail(ErrorKind::usage, "no such program", name,
                "the configuration has none of that name: `trainwardctl avail` lists those it has");
  }
  take_over(parts_->config, *loaded, name);
  courier_.follow(parts_->config);
  take_up(name);
  note_request(name, "the program is added", by);
  return command_answer(name, "added", true, "");
}

Result<json::value> Daemon::remove(const std::string& name, const std::string& by) {
  if (auto ok = known(name); !ok) return propagate(ok);
  if (!find(name)->at_rest()) {
    return command_answer(name, "still running", false, "stop it first: trainwardctl stop " + name);
  }
  note_request(name, "the program is removed", by);
  remove_program(name);
  forget(parts_->config, name);
  courier_.follow(parts_->config);
  return command_answer(name, "removed", true, "");
}

}  // namespace trainward::daemon
