// With which attempt a training began, and whether from a checkpoint of elsewhere.
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace trainward::store {
namespace {

class Origins : public StoreTest {
 protected:
  struct Told {
    std::string nonce;
    bool goes_on = false;
    friend bool operator==(const Told&, const Told&) = default;
    friend void PrintTo(const Told& told, std::ostream* out) {
      *out << told.nonce << (told.goes_on ? " from elsewhere" : " from nothing");
    }
  };
  // Of these attempts in a row, as of a program of its own. `restored_ms`: of an event; 0: none.
  Told of(const std::vector<AttemptRow>& attempts, std::int64_t restored_ms = 0) {
    const std::string program = "p" + std::to_string(++programs_);
    must(store_.put_program({program, "RUNNING", "", "d", "{}", epoch_ms, 0}));
    for (AttemptRow row : attempts) {
      row.program = program;
      must(store_.put_attempt(row));
      for (std::int64_t step = row.first_step; step > 0 && step <= row.last_step; step += every_) {
        StepRow said;
        said.step = step;
        said.attempt = row.number;
        must(store_.add_step(program, said));
      }
    }
    if (restored_ms > 0) {
      must(store_.add_event({0, restored_ms, program, 0, "restored", "step 40"}));
    }
    const auto origin = must(store_.origin(program));
    return origin ? Told{origin->nonce, origin->goes_on} : Told{};
  }
  static AttemptRow from(AttemptRow row, const std::string& checkpoint) {
    row.resume_from = checkpoint;
    return row;
  }
  static AttemptRow untold(AttemptRow row) {
    row.told_to_resume = false;
    return row;
  }

  Store store_ = open();
  int programs_ = 0;
  std::int64_t every_ = 1;
};

TEST_F(Origins, ARunGoesOnWithWhatItBegan) {
  EXPECT_EQ(of({}), Told{});
  EXPECT_EQ(of({attempt(1, 0, 1, 25, 24), from(attempt(2, 24, 25, 30, 28), "s24"),
                from(attempt(3, 24, 25, 26, 0), "s24")}),
            (Told{"n1", false}));
  EXPECT_EQ(of({attempt(1, 0, 0, 0, 0)}), (Told{"n1", false})) << "it has done nothing";
  // It tells no steps, and what it kept is known.
  EXPECT_EQ(of({attempt(1, 0, 0, 0, 500), from(attempt(2, 500, 0, 500, 0), "s500")}),
            (Told{"n1", false}));
}

TEST_F(Origins, ACheckpointThatNoAttemptReachedWasBrought) {
  EXPECT_EQ(of({from(attempt(1, 40, 41, 60, 60), "s40")}), (Told{"n1", true}));
  EXPECT_EQ(of({from(attempt(1, 0, 1, 60, 60), "final")}), (Told{"n1", true}))
      << "of no known step";
  EXPECT_EQ(of({attempt(1, 0, 1, 5, 0), from(attempt(2, 40, 41, 60, 60), "s40"),
                from(attempt(3, 60, 61, 70, 60), "s60")}),
            (Told{"n2", true}));
}

// Its last steps may not have been told before it was killed, and no checkpoint may be there yet.
TEST_F(Origins, FromMemoryTheRunGoesOn) {
  AttemptRow second = attempt(2, 26, 27, 60, 60);
  second.source = "memory";
  EXPECT_EQ(of({attempt(1, 0, 1, 25, 0), second}), (Told{"n1", false}));
  EXPECT_EQ(of({attempt(1, 0, 1, 25, 20), from(second, "s20")}), (Told{"n1", false}));
}

TEST_F(Origins, BegunAnewItIsAnotherTraining) {
  EXPECT_EQ(of({attempt(1, 0, 1, 5000, 5000), attempt(2, 0, 1, 100, 100),
                from(attempt(3, 100, 101, 110, 0), "s100")}),
            (Told{"n2", false}));
}

TEST_F(Origins, WhatWasRestoredIsGoneOnWithThoughItIsBehind) {
  const AttemptRow second = from(attempt(2, 3000, 3001, 3100, 3100), "s3000");
  EXPECT_EQ(of({attempt(1, 0, 1, 5000, 5000), second}), (Told{"n1", false}));
  EXPECT_EQ(of({attempt(1, 0, 1, 5000, 5000), second}, second.intended_ms - 1), (Told{"n2", true}));
}

TEST_F(Origins, AProgramThatIsNotToldShowsItByItsFirstStep) {
  EXPECT_EQ(of({untold(attempt(1, 0, 1, 25, 0)), untold(attempt(2, 0, 1, 30, 0))}),
            (Told{"n1", false}));
  EXPECT_EQ(of({untold(attempt(1, 0, 41, 60, 0))}), (Told{"n1", true}));
  EXPECT_EQ(of({untold(attempt(1, 0, 0, 0, 0))}), (Told{"n1", true})) << "nobody knows";
  every_ = 10;
  EXPECT_EQ(of({untold(attempt(1, 0, 10, 60, 0))}), (Told{"n1", false})) << "it tells each tenth";
}

}  // namespace
}  // namespace trainward::store
