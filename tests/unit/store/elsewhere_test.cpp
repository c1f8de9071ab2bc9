// Whether a program began with a checkpoint of somebody else.
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace trainward::store {
namespace {

class Elsewhere : public StoreTest {
 protected:
  // Whether it does with these attempts in a row, as of a program of its own.
  static bool goes_on(Store& store, std::vector<AttemptRow> attempts) {
    static int programs = 0;
    const std::string program = "p" + std::to_string(++programs);
    must(store.put_program({program, "RUNNING", "", "d", "{}", epoch_ms, 0}));
    for (AttemptRow& row : attempts) {
      row.program = program;
      must(store.put_attempt(row));
    }
    return must(store.goes_on_from_elsewhere(program));
  }
  static AttemptRow from(AttemptRow row, const std::string& checkpoint) {
    row.resume_from = checkpoint;
    return row;
  }
  static AttemptRow untold(AttemptRow row) {
    row.told_to_resume = false;
    return row;
  }
};

TEST_F(Elsewhere, ItsOwnCheckpointsAreNotElsewhere) {
  Store store = open();
  EXPECT_FALSE(goes_on(store, {}));
  EXPECT_FALSE(goes_on(store, {attempt(1, 0, 1, 25, 24), from(attempt(2, 24, 25, 30, 28), "s24"),
                               from(attempt(3, 24, 25, 26, 0), "s24")}));
  EXPECT_FALSE(goes_on(store, {attempt(1, 0, 0, 0, 0)})) << "it has done nothing";
}

TEST_F(Elsewhere, WhatNoAttemptReachedWasBrought) {
  Store store = open();
  EXPECT_TRUE(goes_on(store, {from(attempt(1, 40, 41, 60, 60), "s40")}));
  EXPECT_TRUE(goes_on(store, {from(attempt(1, 0, 1, 60, 60), "final")})) << "of no known step";
  EXPECT_TRUE(goes_on(store, {attempt(1, 0, 1, 5, 0), from(attempt(2, 40, 41, 60, 60), "s40")}))
      << "after a first attempt that began from nothing";
}

TEST_F(Elsewhere, AProgramThatIsNotToldShowsItByItsFirstStep) {
  Store store = open();
  EXPECT_FALSE(goes_on(store, {untold(attempt(1, 0, 1, 25, 0)), untold(attempt(2, 0, 21, 30, 0))}));
  EXPECT_TRUE(goes_on(store, {untold(attempt(1, 0, 41, 60, 0))}));
}

}  // namespace
}  // namespace trainward::store
