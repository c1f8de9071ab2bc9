// Hears what is committed, as the daemon does, keeps the book, and what people were told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "supervisor/decide/notify/teller.hpp"
#include "times.hpp"

namespace trainward::notify {

class Receiver {
 public:
  Receiver(const core::Policy& policy, Policy wishes, Zone zone = utc)
      : around_{std::move(wishes), std::move(zone),
                [this](std::int64_t now_ms) {
                  newest_id_ = std::max(newest_id_ + 1, now_ms);
                  return newest_id_;
                },
                [](const std::string&, std::int64_t) {
                  return Figures{0.87, 18};
                }},
        teller_(around_, "trainer", policy) {}
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  void hear(const core::Event& event, Time at, const core::State& state,
            std::span<const core::Action> actions) {
    pass_time(at.wall.ms);
    // The next daemon has what was stored, and the time of the newest state.
    if (std::holds_alternative<core::DaemonStarted>(event)) reopen();
    Orders orders;
    teller_.take(book_, event, at, state, actions, orders);
    state_ = state;
    settle(orders, at.wall.ms);
  }

  // What falls due until then.
  void pass_time(std::int64_t until_ms) {
    for (int turns = 0; turns < 10'000; ++turns) {
      const auto due = teller_.next(book_, state_);
      if (!due || *due > until_ms) return;
      Orders orders;
      const std::int64_t now = std::max(*due, now_ms_);
      teller_.tick(book_, now, state_, orders);
      settle(orders, now);
    }
    ADD_FAILURE() << "what is due stays due";
  }

  // Neither taken back nor of another episode than that; 0: of all.
  [[nodiscard]] std::vector<Message> told(std::int64_t episode = 0) const {
    std::vector<Message> list;
    for (const auto& [id, message] : messages_) {
      if (!taken_back_.contains(id) && (episode == 0 || message.episode == episode)) {
        list.push_back(message);
      }
    }
    return list;
  }
  [[nodiscard]] std::vector<Message> told(Kind kind) const {
    std::vector<Message> list = told();
    std::erase_if(list, [kind](const Message& message) { return message.kind != kind; });
    return list;
  }
  [[nodiscard]] const std::map<std::int64_t, Episode>& episodes() const { return episodes_; }
  [[nodiscard]] const Book& book() const { return book_; }
  [[nodiscard]] const core::State& state() const { return state_; }

 private:
  void reopen() {
    Book next;
    next.seen_ms = book_.seen_ms;
    next.standing = standing_from(to_json_text(book_.standing)).value();
    EXPECT_EQ(next.standing, book_.standing);
    for (const Episode& episode : book_.episodes) {
      next.episodes.push_back(episode_from(to_json_text(episode)).value());
      EXPECT_EQ(next.episodes.back(), episode);
    }
    book_ = std::move(next);
  }

  void settle(const Orders& orders, std::int64_t now_ms) {
    now_ms_ = std::max(now_ms_, now_ms);
    for (const std::int64_t id : orders.taken_back) {
      EXPECT_TRUE(messages_.contains(id));
      EXPECT_TRUE(taken_back_.insert(id).second) << "taken back twice";
      EXPECT_GT(messages_[id].not_before_ms, now_ms) << "it may have been sent";
    }
    for (const Message& message : orders.messages) {
      EXPECT_TRUE(messages_.emplace(message.id, message).second) << "an id given twice";
      EXPECT_GE(message.not_before_ms, message.at_ms);
      if (message.episode == 0) continue;
      const auto known = episodes_.find(message.episode);
      EXPECT_TRUE(known == episodes_.end() || known->second.closed_ms == 0)
          << message.title << ": of an episode that was closed";
    }
    for (const Episode& episode : book_.episodes) {
      const auto known = episodes_.find(episode.id);
      EXPECT_TRUE(known == episodes_.end() || known->second.closed_ms == 0) << "closed twice";
      episodes_[episode.id] = episode;
    }
    std::erase_if(book_.episodes, [](const Episode& episode) { return episode.closed_ms != 0; });
  }

  Around around_;
  Teller teller_;
  Book book_;
  core::State state_;
  std::int64_t newest_id_ = 0;
  std::int64_t now_ms_ = 0;
  std::map<std::int64_t, Message> messages_;
  std::set<std::int64_t> taken_back_;
  std::map<std::int64_t, Episode> episodes_;
};

}  // namespace trainward::notify
