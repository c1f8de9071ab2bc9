#include "supervisor/ctl/ckpt_operation.hpp"

#include <chrono>

#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Operation::Operation(const Context& context, std::string label)
    : context_(context), bar_(std::move(label), Clock::now()) {}

Operation::~Operation() { clear(); }

void Operation::clear() {
  const std::string text = bar_.clear();
  if (!text.empty()) context_.terminal.err << text << std::flush;
}

void Operation::next(std::string label) {
  clear();
  bar_ = ProgressBar(std::move(label), Clock::now());
}

Status Operation::step(std::uint64_t done, std::uint64_t total) {
  interrupted_by_ = interruption_.signal();
  if (interrupted_by_ != 0) {
    return trainward::fail(ErrorKind::transient, "was interrupted", {}, "start it again");
  }
  const auto& width_of_err = context_.terminal.err_width;
  if (context_.settings.json || !width_of_err) return {};
  const int width = width_of_err();
  if (width <= 0) return {};
  const auto text = bar_.update(Clock::now(), done, total, static_cast<std::size_t>(width));
  if (text) context_.terminal.err << *text << std::flush;
  return {};
}

checkpoint::IoOptions Operation::io() {
  checkpoint::IoOptions options;
  options.progress = [this](std::uint64_t done, std::uint64_t total) { return step(done, total); };
  return options;
}

int Operation::fail(const Error& error, std::string_view unchanged) {
  clear();
  if (interrupted_by_ == 0) return finish(context_, {exit_status::failed, error});
  context_.terminal.err << "trainwardctl: interrupted: " << unchanged << '\n';
  return 128 + interrupted_by_;
}

}  // namespace trainward::ctl
