// What the hands of one program share: who it is, whom they answer, and work off the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/attempt/launcher.hpp"
#include "supervisor/daemon/hands/services.hpp"
#include "supervisor/decide/core/policy.hpp"
#include "supervisor/decide/session/session.hpp"

namespace trainward::daemon {

class ProgramContext {
 public:
  // `changed`: something that others may wait for.
  ProgramContext(Services& services_in, config::Program program_in, std::function<void()> changed);
  ~ProgramContext() { *alive_ = false; }
  ProgramContext(const ProgramContext&) = delete;
  ProgramContext& operator=(const ProgramContext&) = delete;

  Services& services;
  const config::Program program;
  const core::Policy policy;
  const std::function<void()> changed;
  // To be set before anything is asked of the hands, which answer it.
  session::Session* session = nullptr;

  [[nodiscard]] const std::string& name() const { return program.name; }
  void handle(core::Event event) const { session->handle(std::move(event)); }
  // An event that the core has no part in.
  void note(const std::string& kind, const std::string& text) const;

  // `work` runs on a thread and owns what it uses; what it returns runs here, unless this is gone
  // by then. `what`: "read the checkpoints", told when it takes long; `late`: instead of that.
  void in_background(std::string what, std::function<Background::Then()> work,
                     std::function<void()> late = {}) const;
  // Looks at the worker's processes, whatever the files of the program are waiting for.
  void look_at_processes(std::function<Background::Then()> look) const;
  // Ends what an earlier attempt left, then goes on.
  void end_leftovers_then(std::function<void(const Status&)> then) const;
  // A standby, which is not one of them.
  Spared spared;
  // False once this is gone.
  [[nodiscard]] std::shared_ptr<const bool> alive() const { return alive_; }

 private:
  [[nodiscard]] std::function<Background::Then()> unless_gone(
      std::function<Background::Then()> work) const;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainward::daemon
