#include "supervisor/ctl/live/live_feed.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/ctl/client/client.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/live/gatherer.hpp"
#include "supervisor/ctl/live/time_text.hpp"
#include "supervisor/ctl/outcome.hpp"

namespace trainward::ctl::live {
namespace {

constexpr std::chrono::milliseconds between_looks{1'000};
// A daemon finishes what it was asked even if the asker has stopped waiting.
constexpr std::chrono::milliseconds command_deadline{3'000};

std::string command_target(top::Verb verb, const std::string& program, bool dry_run) {
  return ctl::target_of(program, top::name_of(verb)) + (dry_run ? "?dry_run=1" : "");
}

News cost_of(const Context& context, const top::AskCost& what) {
  const auto answer = as_object(
      call(context, Method::post, command_target(what.verb, what.program, true), deadline));
  Cost cost{what.verb, what.program, ""};
  if (answer) cost.text = string_or(*answer, "message", "");
  if (cost.text.empty()) {
    cost.text =
        "what it costs is not known" + (answer ? "" : " (" + answer.error().error.what + ")");
  }
  return cost;
}

News outcome_of(const Context& context, const top::Carry& what) {
  auto reply = client_of(context).document(
      Method::post, command_target(what.verb, what.program, false), command_deadline);
  if (!reply && reply.error().trouble == Trouble::silent) {
    return Outcome{fmt::format("trainwardd has been asked to {} {} and is at it",
                               name_of(what.verb), what.program)};
  }
  const auto answer =
      reply ? as_object(std::move(*reply))
            : Answer<json::object>(tl::unexpected<Failure>(failure_of(reply.error())));
  if (!answer) return Outcome{what.program + ": " + answer.error().error.message()};
  const ctl::Outcome outcome = ctl::outcome_of(*answer);
  std::string text = what.program + ": " + outcome.text;
  if (!outcome.message.empty()) text += ": " + outcome.message;
  return Outcome{std::move(text)};
}

}  // namespace

Result<std::unique_ptr<Feed>> Feed::start(const Context& context, bool ascii) {
  Fd ready(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!ready) {
    return fail(ErrorKind::transient,
                fmt::format("cannot make a descriptor: {}", std::strerror(errno)));
  }
  std::unique_ptr<Feed> feed(new Feed(context, ascii, std::move(ready)));
  try {
    feed->looker_ = std::thread([&self = *feed] { self.look_again_and_again(); });
    feed->worker_ = std::thread([&self = *feed] { self.work(); });
  } catch (const std::system_error& error) {
    return fail(ErrorKind::transient, fmt::format("cannot start a thread: {}", error.what()));
  }
  return feed;
}

Feed::Feed(const Context& context, bool ascii, Fd ready)
    : context_(context), ascii_(ascii), ready_(std::move(ready)) {}

Feed::~Feed() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (looker_.joinable()) looker_.join();
  if (worker_.joinable()) worker_.join();
}

bool Feed::stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Feed::want(const top::Interest& interest) {
  {
    const std::lock_guard lock(mutex_);
    if (interest == interest_) return;
    interest_ = interest;
    wanted_anew_ = true;
  }
  changed_.notify_all();
}

void Feed::ask(const top::AskCost& what) {
  {
    const std::lock_guard lock(mutex_);
    work_.emplace_back([this, what] { return cost_of(context_, what); });
  }
  changed_.notify_all();
}

void Feed::carry_out(const top::Carry& what) {
  {
    const std::lock_guard lock(mutex_);
    work_.emplace_back([this, what] { return outcome_of(context_, what); });
  }
  changed_.notify_all();
}

std::vector<News> Feed::take() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!::read(ready_.get(), &count, sizeof(count));
  return std::exchange(news_, {});
}

void Feed::tell(News news) {
  const std::lock_guard lock(mutex_);
  news_.push_back(std::move(news));
  const std::uint64_t one = 1;
  (void)!::write(ready_.get(), &one, sizeof(one));
}

void Feed::look_again_and_again() {
  Gatherer gatherer(context_, ascii_);
  while (!stopped()) {
    top::Interest interest;
    {
      const std::lock_guard lock(mutex_);
      interest = interest_;
      wanted_anew_ = false;
    }
    try {
      const auto documents = gatherer.look(interest, now(), [this] { return stopped(); });
      tell(top::snapshot_of(documents, time_text_of(documents.now_ms, context_.settings.utc)));
    } catch (const std::exception& error) {
      top::Snapshot nothing;
      nothing.trouble = fmt::format("this screen cannot be brought up to date: {}", error.what());
      tell(std::move(nothing));
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, between_looks, [this] { return stopped_ || wanted_anew_; });
  }
}

void Feed::work() {
  for (;;) {
    std::function<News()> next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || !work_.empty(); });
      // What the user said y to is still asked for.
      if (work_.empty()) return;
      next = std::move(work_.front());
      work_.pop_front();
    }
    try {
      tell(next());
    } catch (const std::exception& error) {
      tell(Outcome{fmt::format("it could not be asked for: {}", error.what())});
    }
  }
}

}  // namespace trainward::ctl::live
