// Programs that have a turn together.
#include "supervisor/decide/session/turns.hpp"

#include "fakes.hpp"

namespace trainward::session {
namespace {

class Program final : public Participant {
 public:
  explicit Program(Turns& turns) : turns_(turns) {}
  [[nodiscard]] bool wishes() const override { return wish; }
  Status prepare() override {
    ++prepared;
    if (bad) return fail(ErrorKind::permanent, "a row that cannot be written");
    return {};
  }
  void finish(bool committed) override {
    ++(committed ? finished : refused);
    if (committed && removes != nullptr) turns_.forget(removes);
    if (!committed && speaks_when_refused) turns_.request(this);
  }

  bool wish = false;
  bool bad = false;
  Program* removes = nullptr;
  bool speaks_when_refused = false;
  int prepared = 0;
  int finished = 0;
  int refused = 0;

 private:
  Turns& turns_;
};

class OneDatabase final : public Database {
 public:
  Status transact(Survives survives, const std::function<Status()>& write) override {
    ++transactions;
    survived = survives;
    if (refuses) return fail(ErrorKind::transient, "busy");
    return write();
  }
  void takes_again() override { ++told; }
  bool refuses = false;
  int transactions = 0;
  int told = 0;
  Survives survived = Survives::power;
};

class TurnsTest : public ::testing::Test {
 protected:
  void pass(std::int64_t ms) {
    time_.mono += ms;
    clock_.run();
  }
  Time time_{1, 1};
  FakeClock::Posts posts_;
  FakeClock clock_{time_, posts_};
  OneDatabase database_;
  Turns turns_{clock_, database_};
};

TEST_F(TurnsTest, AllThatWaitHaveOneTransaction) {
  Program a(turns_), b(turns_);
  turns_.request(&a);
  turns_.request(&b);
  turns_.request(&a);
  clock_.run();
  EXPECT_EQ(database_.transactions, 1);
  EXPECT_EQ(a.prepared, 1);
  EXPECT_EQ(b.finished, 1);
  EXPECT_EQ(database_.survived, Survives::process);
}

TEST_F(TurnsTest, AWishSurvivesAPowerCut) {
  Program a(turns_), b(turns_);
  b.wish = true;
  turns_.request(&a);
  turns_.request(&b);
  clock_.run();
  EXPECT_EQ(database_.survived, Survives::power);
}

TEST_F(TurnsTest, ARefusalIsTriedAgainEachSecond) {
  Program a(turns_);
  database_.refuses = true;
  turns_.request(&a);
  clock_.run();
  pass(999);
  EXPECT_EQ(database_.transactions, 1);
  pass(1);
  EXPECT_EQ(database_.transactions, 2);
  EXPECT_EQ(a.refused, 2);
  database_.refuses = false;
  pass(1'000);
  EXPECT_EQ(a.finished, 1);
  EXPECT_EQ(database_.told, 1);
  pass(10'000);
  EXPECT_EQ(database_.transactions, 3);
}

TEST_F(TurnsTest, WhoSpeaksWhileItIsRefusedHasOneTurn) {
  Program a(turns_);
  a.speaks_when_refused = true;
  database_.refuses = true;
  turns_.request(&a);
  clock_.run();
  a.speaks_when_refused = false;
  database_.refuses = false;
  pass(1'000);
  EXPECT_EQ(a.prepared, 1) << "its records were written twice";
}

TEST_F(TurnsTest, OneThatCannotBeRecordedDoesNotHoldTheOthersUp) {
  Program good(turns_), bad(turns_);
  bad.bad = true;
  turns_.request(&bad);
  turns_.request(&good);
  clock_.run();
  EXPECT_EQ(good.finished, 1);
  EXPECT_EQ(bad.finished, 0);
  EXPECT_TRUE(turns_.refusal().has_value());
  turns_.forget(&bad);
  pass(1'000);
  EXPECT_FALSE(turns_.refusal().has_value());
}

TEST_F(TurnsTest, OneThatIsRemovedMeanwhileHasNoTurnOfItsOwn) {
  Program bad(turns_), good(turns_), gone(turns_);
  bad.bad = true;
  good.removes = &gone;
  turns_.request(&bad);
  turns_.request(&good);
  turns_.request(&gone);
  clock_.run();
  EXPECT_EQ(good.finished, 1);
  EXPECT_EQ(gone.prepared, 0);
  EXPECT_EQ(gone.finished, 0);
}

}  // namespace
}  // namespace trainward::session
