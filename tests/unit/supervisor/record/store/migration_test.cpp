// A file of an older Trainward becomes one of this, with all that it knew.
#include "fixture.hpp"
#include "supervisor/record/store/schema.hpp"

namespace trainward::store {
namespace {

class MigrationTest : public StoreTest {
 protected:
  // A file as `version` left it, with an attempt of "trainer" and views of that time.
  void write_file_of(int version) const {
    auto connection = must(Connection::open(file_, Connection::Mode::read_write));
    for (const Migration& migration : migrations()) {
      if (migration.version <= version) must(connection->script(migration.tables));
    }
    must(connection->script(
        fmt::format("create view v_status as select name from programs;"
                    "insert into programs (name, state) values ('trainer', 'EXITED');"
                    "insert into attempts (program, number, last_step) values ('trainer', 1, 25);"
                    "insert into checkpoints (program, path, step, state, at_ms) values "
                    "('trainer', 'a', 10, 'pruned', 1), ('trainer', 'b', 20, 'pruned', 2), "
                    "('trainer', 'c', 24, 'verified', 3);"
                    "insert into steps (program, step, attempt, loss, tokens) "
                    "values ('trainer', 24, 1, 2.75, 1536), ('trainer', 25, 1, 2.5, {});"
                    "{}; pragma application_id = {}; pragma user_version = {}",
                    version < 6 ? "0" : "null",
                    version < 10 ? "" : "update programs set verified = 1, pruned = 2",
                    application_id, version)));
  }
};

TEST_F(MigrationTest, AnOlderFileKeepsWhatItKnewAndTakesWhatIsNew) {
  for (int version = 1; version < newest_version(); ++version) {
    SCOPED_TRACE(version);
    std::filesystem::remove(file_);
    write_file_of(version);
    Store store = open();
    EXPECT_EQ(must(store.attempt("trainer", 1))->last_step, 25);
    EXPECT_TRUE(must(store.evaluations_json("trainer")).empty());
    must(store.add_evaluation("trainer", {25, 1, 2.75, epoch_ms}));
    EXPECT_TRUE(must(store.compiled_json("trainer")).empty());
    must(store.add_compiled("trainer", {1, "head", "k", true, 5, "", epoch_ms}));
    EXPECT_TRUE(must(store.samples_json("trainer")).empty());
    must(store.add_sample("trainer", {25, 1, "p", "a", 3, "length", true, epoch_ms}));
    EXPECT_EQ(must(store.samples_json("trainer")).size(), 1U);
    EXPECT_TRUE(must(store.evaluations_json("trainer"))[0].at("perplexity").is_null());
    must(store.add_board_sample(
        {"01", epoch_ms, "trainer", 1, 57.0, {}, {}, {}, {}, {}, {}, {}, {}, {}}));
    EXPECT_EQ(must(store.board_samples_json("01", -1, 9)).size(), 1U);
    const auto status = must(store.status_json(Time{}));
    ASSERT_EQ(status.size(), 1U);
    EXPECT_EQ(status[0].at("loss").as_double(), 2.5);
    EXPECT_EQ(status[0].at("evaluation_loss").as_double(), 2.75);
    EXPECT_EQ(status[0].at("cache_hits").as_int64(), 1);
    EXPECT_EQ(status[0].at("tokens").as_int64(), 1536) << "those of step 25 were not told";
    EXPECT_TRUE(must(store.attempt("trainer", 1))->told_to_resume);
    EXPECT_EQ(must(store.attempt("trainer", 1))->source, "");
    must(store.add_step("trainer", {{}, 26, 1, epoch_ms, false}));
    EXPECT_EQ(must(store.step_rows("trainer")), 3);
    EXPECT_TRUE(must(store.messages_after(0, 9)).empty()) << "nobody is told of what was before";
    EXPECT_EQ(must(store.add_message(
                  {0, epoch_ms, epoch_ms, "trainer", 0, "info", "done", "t", "{}", false})),
              epoch_ms);
    EXPECT_TRUE(must(store.open_episodes("trainer")).empty());
    EXPECT_EQ(must(store.telling("trainer")), "");
    must(store.mark_checkpoint("trainer", "a", "corrupt"));
    const ProgramNow now = must(store.programs_now()).at(0);
    EXPECT_EQ(now.verified, 1);
    EXPECT_EQ(now.corrupt, 1);
    EXPECT_EQ(now.pruned, 1);
  }
}

TEST_F(MigrationTest, AReaderOfAnOlderFileIsToldWhoBringsItUpToDate) {
  write_file_of(newest_version() - 1);
  const auto refused = Store::open_read_only(file_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_NE(refused.error().hint.find("start trainwardd"), std::string::npos);
  EXPECT_TRUE(Store::check(file_).has_value()) << "it can be";
  { const Store writer = open(); }
  EXPECT_TRUE(Store::open_read_only(file_).has_value());
}

TEST_F(MigrationTest, VersionsCountUpAndTheNewestMakesTheViews) {
  int version = 0;
  for (const Migration& migration : migrations()) EXPECT_EQ(migration.version, ++version);
  EXPECT_NE(std::string_view(views_text()), "");
}

}  // namespace
}  // namespace trainward::store
