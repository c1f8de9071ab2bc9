#include "supervisor/window/api/routes/feed.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <utility>
#include <vector>

#include "common/os/clock.hpp"
#include "supervisor/window/api/http/http_pipe.hpp"
#include "supervisor/window/api/http/sse.hpp"
#include "supervisor/window/api/routes/feed_look.hpp"
#include "supervisor/window/api/routes/route_table.hpp"

namespace trainward::api {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int events_at_once = 100;
// So much waits for a listener before its next events are left on record for now.
constexpr std::size_t enough_queued = Pipe::most_queued / 4;

struct Listening {
  Feed::Wish wish;
  std::shared_ptr<Pipe> pipe = std::make_shared<Pipe>();
  std::int64_t position = 0;  // the newest event that it has, or that is not for it
  bool reading = false;
  bool greeted = false;  // knows what the programs are at
};
using Client = std::shared_ptr<Listening>;

// What of a row tells that something changed; time goes by without.
std::string without_time(const json::array& rows) {
  json::array still = rows;
  for (json::value& row : still) {
    row.as_object().erase("uptime_ms");
    row.as_object().erase("effective_share");
  }
  return json::serialize(still);
}

bool is_for(const Listening& client, const json::value& row, const char* key) {
  return client.wish.program.empty() || string_or(row.as_object(), key, "") == client.wish.program;
}

}  // namespace

struct Feed::Impl : std::enable_shared_from_this<Feed::Impl> {
  Impl(boost::asio::io_context& loop, Reader& reader_in, Greeting greeting_in, Touch touch_in,
       Pace pace_in)
      : reader(reader_in),
        greeting(std::move(greeting_in)),
        touch(std::move(touch_in)),
        pace(pace_in),
        next_look(loop),
        next_heartbeat(loop) {}

  void poke() {
    dirty = true;
    if (!clients.empty() && !looking && !armed) arm(until(looked + pace.looks));
  }

  static Clock::duration until(Clock::time_point at) {
    return std::max(at - Clock::now(), Clock::duration::zero());
  }

  void arm(Clock::duration after) {
    armed = true;
    next_look.expires_after(after);
    next_look.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (!self || error) return;
      self->armed = false;
      self->look();
    });
  }

  void look() {
    prune();
    if (clients.empty() || looking) return;
    looking = true;
    dirty = false;
    looked = Clock::now();
    const bool programs = looked >= told + pace.status;
    read<FeedLook>([programs](const store::Store& store) { return look_at(store, programs); },
                   [this](Result<FeedLook> seen) { on_look(std::move(seen)); });
  }

  // `then` comes on the loop, unless the feed is gone.
  template <typename Value>
  void read(std::function<Result<Value>(const store::Store&)> work,
            std::function<void(Result<Value>)> then) {
    const auto here = [weak = weak_from_this(), then](Result<Value> value) {
      if (const auto self = weak.lock()) then(std::move(value));
    };
    reader.run({[work, here](const store::Store& store) -> std::function<void()> {
                  return [here, value = work(store)]() mutable { here(std::move(value)); };
                },
                [here](const Error& error) { here(tl::unexpected<Error>(error)); }});
  }

  void on_look(Result<FeedLook> seen) {
    looking = false;
    if (!seen) {
      dirty = true;
      return arm(pace.status);
    }
    see(seen->newest);
    if (seen->programs) {
      told = Clock::now();
      touch(*seen->programs);
      tell(*seen->programs, seen->steps);
    }
    const bool unread = !seen->programs || std::any_of(clients.begin(), clients.end(),
                                                       [](const Client& c) { return !c->greeted; });
    if (armed) return;
    if (dirty) return arm(until(looked + pace.looks));
    if (unread) arm(until(told + pace.status));
  }

  // A smaller number than before is another database.
  void see(std::int64_t newest_event) {
    const bool another = newest_event < newest;
    newest = newest_event;
    for (const Client& client : std::vector<Client>(clients)) {
      if (another && client->position > newest) start_over(*client);
      catch_up(client);
    }
  }

  void start_over(Listening& client) const {
    client.position = newest;
    client.pipe->send(sse("reset", json::object{}, newest));
  }

  void tell(const json::array& programs, const json::array& steps) {
    const std::string still = without_time(programs);
    const bool changed = std::exchange(last_programs, still) != still;
    json::array news;
    for (const json::value& step : steps) {
      json::object same = step.as_object();
      same.erase("now_ms");
      std::string& last = last_steps[string_or(same, "program", "")];
      const std::string text = json::serialize(same);
      if (std::exchange(last, text) != text) news.push_back(step);
    }
    for (const Client& client : std::vector<Client>(clients)) {
      if (client->pipe->queued() > enough_queued) {
        client->greeted = false;  // it gets the newest when it has taken what waits
        continue;
      }
      const bool first = !std::exchange(client->greeted, true);
      if (changed || first) tell_programs(*client, programs);
      for (const json::value& step : first ? steps : news) {
        if (is_for(*client, step, "program")) client->pipe->send(sse("step", step));
      }
    }
  }

  static void tell_programs(Listening& client, const json::array& programs) {
    json::array mine;
    for (const json::value& row : programs) {
      if (is_for(client, row, "name")) mine.push_back(row);
    }
    client.pipe->send(
        sse("status", json::object{{"now_ms", now().wall.ms}, {"programs", std::move(mine)}}));
  }

  // Its next events, if it is behind and has taken what it got.
  void catch_up(const Client& client) {
    if (client->reading || !client->pipe->open() || client->position >= newest ||
        client->pipe->queued() > 0) {
      return;
    }
    client->reading = true;
    using Events = std::pair<std::int64_t, json::array>;
    read<Events>(
        [program = client->wish.program,
         after = client->position](const store::Store& store) -> Result<Events> {
          auto newest = newest_event(store);
          if (!newest) return propagate(newest);
          auto rows = store.events_json(program, after, events_at_once);
          if (!rows) return propagate(rows);
          return Events{*newest, std::move(*rows)};
        },
        [this, client](Result<Events> events) {
          client->reading = false;
          if (!events) return poke();
          newest = std::max(newest, events->first);
          send_events(client, events->first, events->second);
        });
  }

  // `known`: the newest event of all when these were read.
  void send_events(const Client& client, std::int64_t known, const json::array& rows) {
    bool all = rows.size() < events_at_once;
    for (const json::value& row : rows) {
      if (client->pipe->queued() > enough_queued) {
        all = false;
        break;
      }
      const std::int64_t id = int_or(row.as_object(), "id", 0);
      client->position = id;
      if (!client->pipe->send(sse("event", row, id))) return;
    }
    if (all) client->position = std::max(client->position, known);
    catch_up(client);
  }

  void prune() {
    std::erase_if(clients, [](const Client& client) { return !client->pipe->open(); });
  }

  std::optional<Error> crowded(const Wish& wish) {
    prune();
    const auto over_tcp = std::count_if(clients.begin(), clients.end(),
                                        [](const Client& c) { return c->wish.over_tcp; });
    if (clients.size() < most_listeners &&
        (!wish.over_tcp || static_cast<std::size_t>(over_tcp) < most_over_tcp)) {
      return std::nullopt;
    }
    return Error{ErrorKind::transient, "too many streams are open already", "",
                 "close another page or `trainwardctl top`, or ask without a stream"};
  }

  void listen(const Wish& wish, const Respond& respond) {
    read<std::int64_t>(
        [program = wish.program](const store::Store& store) -> Result<std::int64_t> {
          if (!program.empty()) {
            if (auto known = known_program(store, program); !known) return propagate(known);
          }
          return newest_event(store);
        },
        [this, wish, respond](Result<std::int64_t> there) {
          if (!there) return respond(failed(there.error(), 404));
          if (const auto full = crowded(wish)) return respond(failed(*full, 404));
          greet(wish, *there, respond);
        });
  }

  void greet(const Wish& wish, std::int64_t there, const Respond& respond) {
    if (!respond.wanted()) return;
    newest = std::max(newest, there);
    auto client = std::make_shared<Listening>();
    client->wish = wish;
    client->position = wish.after.value_or(there);
    const bool too_far =
        client->position > there || there - client->position > most_behind || client->position < 0;
    Response response;
    response.content_type = "text/event-stream";
    response.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
    response.body = std::string(sse_retry);
    response.body += sse("hello",
                         json::object{{"now_ms", now().wall.ms},
                                      {"started_ms", greeting.started_ms},
                                      {"version", greeting.version}},
                         too_far ? there : client->position);
    response.pipe = client->pipe;
    if (too_far) {
      response.body += sse("reset", json::object{}, there);
      client->position = there;
    }
    client->pipe->on_drained([weak = weak_from_this(), waiting = std::weak_ptr(client)] {
      const auto self = weak.lock();
      const auto behind = waiting.lock();
      if (self && behind) self->catch_up(behind);
    });
    clients.push_back(client);
    respond(std::move(response));
    if (clients.size() == 1) beat();
    catch_up(client);
    poke();
  }

  void beat() {
    next_heartbeat.expires_after(pace.heartbeat);
    next_heartbeat.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (!self || error) return;
      for (const Client& client : std::vector<Client>(self->clients)) {
        if (client->pipe->queued() <= enough_queued) client->pipe->send(sse_heartbeat);
      }
      self->prune();
      if (!self->clients.empty()) self->beat();
    });
  }

  void end() {
    for (const Client& client : std::exchange(clients, {})) client->pipe->end();
  }

  Reader& reader;
  Greeting greeting;
  Touch touch;
  Pace pace;
  boost::asio::steady_timer next_look;
  boost::asio::steady_timer next_heartbeat;
  std::vector<Client> clients;
  std::int64_t newest = 0;  // event that is known of
  Clock::time_point looked;
  Clock::time_point told;  // what the programs are at
  bool armed = false;
  bool looking = false;
  bool dirty = false;
  std::string last_programs;
  std::map<std::string, std::string> last_steps;
};

Feed::Feed(boost::asio::io_context& loop, Reader& reader, Greeting greeting, Touch touch, Pace pace)
    : impl_(std::make_shared<Impl>(loop, reader, std::move(greeting), std::move(touch), pace)) {}

Feed::~Feed() { impl_->end(); }

std::function<void()> Feed::poke() const {
  return [weak = std::weak_ptr(impl_)] {
    if (const auto impl = weak.lock()) impl->poke();
  };
}

void Feed::listen(const Wish& wish, const Respond& respond) { impl_->listen(wish, respond); }

}  // namespace trainward::api
