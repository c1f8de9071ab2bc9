#include "supervisor/courier/upload/hub/hub_target.hpp"

#include <fmt/format.h>

#include <utility>

#include "supervisor/courier/upload/hub/hub_reading.hpp"
#include "supervisor/courier/upload/hub/publisher.hpp"

namespace trainward::upload {
namespace {

class HubTarget : public Target {
 public:
  HubTarget(const orders::HubPlace& place, Memory& memory, const TargetOptions& options,
            const hub::Times& times)
      : api_(place, memory, options, times),
        publisher_(api_, memory, place.history == "squash"),
        reading_(api_) {}

  Status check() override;

  Result<Published> publish(const Package& package, const Progress& progress) override {
    api_.ask_to_wait(std::nullopt);
    return publisher_.publish(package, progress);
  }
  Status abandon(const std::string& program, const std::string& name) override {
    return publisher_.forget(program, name);
  }
  Result<std::vector<Remote>> list(const std::string& program) override {
    api_.ask_to_wait(std::nullopt);
    return reading_.list(program);
  }
  Status verify(const std::string& program, const Remote& remote) override {
    api_.ask_to_wait(std::nullopt);
    return reading_.verify(program, remote);
  }
  Status fetch(const std::string& program, const Remote& remote, const Into& into,
               const Progress& progress) override {
    api_.ask_to_wait(std::nullopt);
    return reading_.fetch(program, remote, into, progress);
  }
  [[nodiscard]] std::optional<std::int64_t> wait_ms() const override { return api_.wait_ms(); }

 private:
  hub::Api api_;
  hub::Publisher publisher_;
  hub::Reading reading_;
};

Status HubTarget::check() {
  api_.ask_to_wait(std::nullopt);
  // Uploads need the answer less than the server minds the question: it may be asked a few times in
  // some minutes, by all of a user's programs.
  auto identity = api_.identify();
  if (!identity && identity.error().kind != ErrorKind::transient) return propagate(identity);
  if (!identity) api_.ask_to_wait(std::nullopt);
  if (identity && (identity->role == "read" || !identity->has_write_scope)) {
    return fail(ErrorKind::permanent,
                fmt::format("the token of '{}' may read but not write", identity->name),
                api_.shown(),
                "make one with the right to write at https://huggingface.co/settings/tokens, and "
                "put it into the file that the configuration names");
  }
  auto head = api_.head();
  if (!head) return propagate(head);
  return {};
}

}  // namespace

std::unique_ptr<Target> make_hub_target(const orders::HubPlace& place, Memory& memory,
                                        const TargetOptions& options, const hub::Times& times) {
  return std::make_unique<HubTarget>(place, memory, options, times);
}

}  // namespace trainward::upload
