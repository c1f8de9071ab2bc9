// What somebody else has put into the file, or in the place of it.
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.hpp"
#include "supervisor/record/store/schema.hpp"

namespace trainward::store {
namespace {

class ForeignObjects : public StoreTest {
 protected:
  void run(const std::string& sql) const {
    auto connection = must(Connection::open(file_, Connection::Mode::read_write));
    must(connection->script(sql));
  }
  Error refusal() const {
    auto opened = Store::open(file_);
    EXPECT_FALSE(opened.has_value());
    return opened ? Error{} : opened.error();
  }
};

TEST_F(ForeignObjects, AForeignTriggerIsNamedWithTheSqlThatDropsIt) {
  { const Store made = open(); }
  run("create trigger \"t'\"\"x\" after insert on events begin delete from attempts; end");
  const Error error = refusal();
  EXPECT_EQ(error.kind, ErrorKind::permanent);  // not damaged: the file stays where it is
  EXPECT_NE(error.what.find("a trigger that is not Trainward's: t'\"x on events"),
            std::string::npos)
      << error.what;
  EXPECT_NE(error.hint.find("drop trigger"), std::string::npos);
  // What only reads still can.
  EXPECT_TRUE(Store::open_read_only(file_));
  EXPECT_EQ(Store::check(file_).error().kind, ErrorKind::permanent);
  run("drop trigger \"t'\"\"x\"");
  EXPECT_TRUE(Store::check(file_));
  EXPECT_TRUE(Store::open(file_).has_value());
}

TEST_F(ForeignObjects, AForeignViewAsWell) {
  { const Store made = open(); }
  run("create view mine as select 1");
  EXPECT_NE(refusal().what.find("a view that is not Trainward's: mine"), std::string::npos);
  EXPECT_NE(refusal().hint.find("drop view"), std::string::npos);
}

TEST_F(ForeignObjects, ATriggerInAnOlderFileIsSeenBeforeItIsMigrated) {
  {
    auto connection = must(Connection::open(file_, Connection::Mode::read_write));
    must(connection->script(migrations().front().tables));
    must(connection->script(
        fmt::format("create view v_status as select name from programs;"
                    "create trigger t after insert on events begin select 1; end;"
                    "pragma application_id = {}; pragma user_version = 1",
                    application_id)));
  }
  EXPECT_NE(refusal().what.find("trigger"), std::string::npos);
  run("drop trigger t");
  EXPECT_TRUE(Store::open(file_).has_value());
}

// Opened without care each of these would be waited for; the alarm ends the test then.
TEST_F(ForeignObjects, APipeInThePlaceOfAFileIsNotWaitedFor) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    SCOPED_TRACE(ending);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    if (*ending != '\0') const Store made = open();
    const std::string pipe = file_.string() + ending;
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    ::alarm(20);
    const auto writer = Store::open(file_);
    ASSERT_FALSE(writer.has_value());
    EXPECT_EQ(writer.error().kind, ErrorKind::corrupt);  // set aside at the next start
    EXPECT_EQ(writer.error().message(),
              fmt::format("{}: is a pipe, not a file ({})", pipe, writer.error().hint));
    EXPECT_FALSE(Store::open_read_only(file_).has_value());
    ::alarm(0);
  }
}

}  // namespace
}  // namespace trainward::store
