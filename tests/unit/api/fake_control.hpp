// A daemon that writes down what it is asked.
#pragma once

#include <string>
#include <vector>

#include "supervisor/api/control.hpp"

namespace trainward::api {

class FakeControl final : public Control {
 public:
  mutable std::vector<std::string> asked;
  std::vector<Answer> waiting;  // for the program "slow"

  json::value version() const override { return json::object{{"name", "fake"}}; }
  void command(const std::string& program, Verb verb, Answer answer) override {
    asked.push_back("command " + program + " " + std::to_string(static_cast<int>(verb)));
    if (program == "slow") return waiting.push_back(std::move(answer));
    if (program == "nope")
      return answer(fail(ErrorKind::usage, "no such program", program, "hint"));
    answer(json::object{{"program", program}});
  }
  void command_all(Verb verb, Answer answer) override {
    answer(note("command all " + std::to_string(static_cast<int>(verb))));
  }
  Result<json::value> reread() override { return note("reread"); }
  void update(Answer answer) override { answer(note("update")); }
  Result<json::value> reload() override { return note("reload"); }
  void upgrade(Answer answer) override { answer(note("upgrade")); }
  Result<json::value> shutdown() override { return note("shutdown"); }
  void probe(const ProbeRequest& request, Answer answer) override {
    answer(note(std::string("probe") + (request.deep ? " deep" : "") +
                (request.recorded ? "" : " unrecorded")));
  }
  Result<json::value> status() const override { return note("status"); }
  Result<json::value> history(const std::string& p) const override { return note("history " + p); }
  Result<json::value> why(const std::string& p, std::optional<std::int64_t> n) const override {
    return note("why " + p + " " + std::to_string(n.value_or(-1)));
  }
  Result<json::value> report(const std::string& p) const override { return note("report " + p); }
  Result<json::value> checkpoints(const std::string& p) const override {
    return note("checkpoints " + p);
  }
  Result<json::value> evaluations(const std::string& p) const override {
    return note("evaluations " + p);
  }
  Result<json::value> compiled(const std::string& p) const override {
    return note("compiled " + p);
  }
  Result<json::value> events(const std::string& p, std::int64_t after) const override {
    return note("events " + p + " " + std::to_string(after));
  }
  Result<json::value> last_probe() const override { return note("last_probe"); }
  Result<json::value> boards() const override { return note("boards"); }
  Result<json::value> board_samples(const std::string& serial, std::int64_t after,
                                    std::int64_t limit) const override {
    if (serial == "nope") return fail(ErrorKind::usage, "no such board", serial, "hint");
    return note("samples " + serial + " " + std::to_string(after) + " " + std::to_string(limit));
  }
  Result<LogSlice> log(const std::string& p, const std::string& stream, std::optional<std::int64_t>,
                       std::int64_t offset, std::int64_t limit) const override {
    note("log " + p + " " + stream + " " + std::to_string(offset) + " " + std::to_string(limit));
    return LogSlice{"tail\n", 495, 500, 3};
  }

 private:
  json::value note(std::string what) const {
    asked.push_back(std::move(what));
    return json::object{{"ok", true}};
  }
};

}  // namespace trainward::api
