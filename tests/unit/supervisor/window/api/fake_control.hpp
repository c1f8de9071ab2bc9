// A daemon that writes down what it is asked.
#pragma once

#include <string>
#include <vector>

#include "supervisor/window/api/routes/control.hpp"

namespace trainward::api {

class FakeControl final : public Control {
 public:
  mutable std::vector<std::string> asked;
  std::vector<std::string> askers;  // who asked for each change
  std::vector<Answer> waiting;      // for the program "slow"

  json::object courier() const override { return {{"needed", false}, {"trouble", ""}}; }
  json::value version() const override { return json::object{{"name", "fake"}}; }
  metrics::Live live() const override {
    return {"1.2.3", metrics::DaemonFigures{1'700'000'000'500, 0.25}, folders};
  }
  std::vector<metrics::WatchedFolder> folders;
  void command(const std::string& program, Verb verb, const std::string& by,
               Answer answer) override {
    askers.push_back(by);
    asked.push_back("command " + program + " " + std::to_string(static_cast<int>(verb)));
    if (program == "slow") return waiting.push_back(std::move(answer));
    if (program == "nope")
      return answer(fail(ErrorKind::usage, "no such program", program, "hint"));
    answer(json::object{{"program", program}});
  }
  void command_all(Verb verb, const std::string& by, Answer answer) override {
    askers.push_back(by);
    answer(note("command all " + std::to_string(static_cast<int>(verb))));
  }
  Result<json::value> reread() override { return note("reread"); }
  void update(const std::string& program, const std::string& by, Answer answer) override {
    askers.push_back(by);
    answer(note("update" + (program.empty() ? "" : " " + program)));
  }
  Result<json::value> available() override { return note("available"); }
  Result<json::value> add(const std::string& program, const std::string& by) override {
    askers.push_back(by);
    if (program == "nope") return fail(ErrorKind::usage, "no such program", program, "hint");
    return note("add " + program);
  }
  Result<json::value> remove(const std::string& program, const std::string& by) override {
    askers.push_back(by);
    return note("remove " + program);
  }
  Result<json::value> signal(const std::string& program, int number,
                             const std::string& by) override {
    askers.push_back(by);
    return note("signal " + program + " " + std::to_string(number));
  }
  void clear(const std::string& program, const std::string& by, Answer answer) override {
    askers.push_back(by);
    answer(note("clear " + program));
  }
  LogSlice own_log(std::int64_t offset, std::int64_t limit) const override {
    note("own log " + std::to_string(offset) + " " + std::to_string(limit));
    return LogSlice{"said\n", 5, 10, 0};
  }
  Result<json::value> reload(const std::string& by) override {
    askers.push_back(by);
    note("reload");
    return fail(ErrorKind::usage, "the configuration has errors", "", "");
  }
  void upgrade(const std::string& by, Answer answer) override {
    askers.push_back(by);
    answer(note("upgrade"));
  }
  Result<json::value> shutdown(const std::string& by) override {
    askers.push_back(by);
    return note("shutdown");
  }
  Result<json::value> release_board(const std::string& serial, const std::string& by) override {
    askers.push_back(by);
    if (serial == "nope") return fail(ErrorKind::usage, "is not in quarantine", serial, "hint");
    return note("release " + serial);
  }
  void probe(const ProbeRequest& request, Answer answer) override {
    answer(note(std::string("probe") + (request.deep ? " deep" : "") +
                (request.recorded ? "" : " unrecorded")));
  }
  std::string trouble(const std::string& program) const override {
    return program == "sick" ? "it is sick" : "";
  }
  void log(const LogRequest& r, Listener<Result<LogSlice>> answer) override {
    if (r.program == "nope")
      return answer(fail(ErrorKind::usage, "no such program", r.program, "hint"));
    note("log " + r.program + " " + r.stream + " " + std::to_string(r.offset) + " " +
         std::to_string(r.limit));
    answer(LogSlice{"tail\n", 495, 500, 3});
  }
  Result<json::value> rehearse(const std::string& program, Verb verb) const override {
    if (program == "nope") return fail(ErrorKind::usage, "no such program", program, "hint");
    return note("rehearse " + program + " " + std::to_string(static_cast<int>(verb)));
  }
  json::value rehearse_all(Verb verb) const override {
    return note("rehearse all " + std::to_string(static_cast<int>(verb)));
  }
  std::string refused;  // why nothing is recorded
  std::string refusal() const override { return refused; }

 private:
  json::value note(std::string what) const {
    asked.push_back(std::move(what));
    return json::object{{"ok", true}};
  }
};

}  // namespace trainward::api
