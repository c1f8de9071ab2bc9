#include "supervisor/ctl/client/source.hpp"

#include "common/base/text.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

Failure wrong_shape(std::string_view expected) {
  return {exit_status::other_version,
          {ErrorKind::corrupt, fmt::format("trainwardd's answer is not {}", expected), "",
           "trainwardctl and trainwardd may be of different versions"}};
}

Answer<json::value> ask_database(const Context& context, const ClientError& daemon,
                                 const FromDatabase& from_database) {
  const std::filesystem::path file = context.settings.database();
  if (context.settings.socket_alone) {
    Error error = daemon.error;
    error.hint = "to look into a run database instead, name its folder with --state-dir";
    return tl::unexpected<Failure>({exit_status::unreachable, std::move(error)});
  }
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return tl::unexpected<Failure>(
        {exit_status::unreachable,
         {ErrorKind::permanent,
          fmt::format("{}, and there is no run database in {}", daemon.error.what,
                      context.settings.state_dir.string()),
          daemon.error.where, "start trainwardd, or name the state folder with --state-dir"}});
  }
  auto store = store::Store::open_read_only(file);
  if (!store) return tl::unexpected<Failure>({exit_status::unreachable, std::move(store.error())});
  const std::int64_t newest = store->newest_ms().value_or(0);
  context.terminal.err << fmt::format(
      "{} ({}); answering from the database{}\n", clean(daemon.error.what),
      clean(daemon.error.where),
      newest > 0 ? ", as of " + age(context.terminal.now.wall - WallTime{newest}) : "");
  auto value = from_database(*store);
  if (!value) return tl::unexpected<Failure>({exit_status::failed, std::move(value.error())});
  return std::move(*value);
}

}  // namespace

Failure failure_of(const ClientError& error) {
  switch (error.trouble) {
    case Trouble::missing:
      return {exit_status::not_running, error.error};
    case Trouble::refused:
    case Trouble::denied:
    case Trouble::silent:
      return {exit_status::unreachable, error.error};
    case Trouble::garbled:
      return {exit_status::other_version, error.error};
    case Trouble::answered:
      return {exit_status::failed, error.error};
  }
  return {exit_status::failed, error.error};
}

Client client_of(const Context& context) {
  const Settings& settings = context.settings;
  return settings.connection ? Client(settings.connection) : Client(settings.socket_path());
}

Answer<json::value> call(const Context& context, Method method, const std::string& target,
                         std::chrono::milliseconds deadline) {
  auto reply = client_of(context).document(method, target, deadline);
  if (!reply) return tl::unexpected<Failure>(failure_of(reply.error()));
  return std::move(*reply);
}

Answer<json::value> ask(const Context& context, const std::string& target,
                        const FromDatabase& from_database) {
  auto reply = client_of(context).document(Method::get, target, short_deadline);
  if (reply) return std::move(*reply);
  return ask_without_daemon(context, reply.error(), from_database);
}

Answer<json::value> ask_without_daemon(const Context& context, const ClientError& daemon,
                                       const FromDatabase& from_database) {
  if (context.settings.is_here() && nobody_answers(daemon))
    return ask_database(context, daemon, from_database);
  return tl::unexpected<Failure>(failure_of(daemon));
}

Answer<json::array> as_array(Answer<json::value> answer) {
  if (!answer) return tl::unexpected<Failure>(std::move(answer.error()));
  if (!answer->is_array()) return tl::unexpected<Failure>(wrong_shape("a list"));
  for (const json::value& row : answer->get_array()) {
    if (!row.is_object()) return tl::unexpected<Failure>(wrong_shape("a list of objects"));
  }
  return std::move(answer->get_array());
}

Answer<json::object> as_object(Answer<json::value> answer) {
  if (!answer) return tl::unexpected<Failure>(std::move(answer.error()));
  if (!answer->is_object()) return tl::unexpected<Failure>(wrong_shape("an object"));
  return std::move(answer->get_object());
}

std::vector<std::string> texts_in(const json::object& answer, std::string_view key) {
  std::vector<std::string> texts;
  if (const auto list = get_array(answer, key)) {
    for (const json::value& text : **list) {
      if (text.is_string()) texts.emplace_back(text.get_string());
    }
  }
  return texts;
}

int finish(const Context& context, const Failure& failure) {
  context.terminal.err << "trainwardctl: " << clean(failure.error.message()) << '\n';
  return failure.exit_code;
}

std::string programs_with(const std::string& also) {
  return also.empty() ? "/v1/programs" : "/v1/programs?also=" + percent_encoded(plain_name(also));
}

std::string target_of(const std::string& program, std::string_view document) {
  return program.empty()
             ? fmt::format("/v1/{}", document)
             : fmt::format("/v1/programs/{}/{}", percent_encoded(plain_name(program)), document);
}

Result<json::value> of_program(const store::Store& store, const std::string& program,
                               Result<json::array> rows) {
  if (!rows) return propagate(rows);
  if (rows->empty() && !program.empty()) {
    auto found = store.program(program);
    if (found && !*found) {
      return fail(ErrorKind::usage, fmt::format("no such program: {}", program), "",
                  "trainwardctl status lists them");
    }
  }
  return json::value(std::move(*rows));
}

int print_rows(const Context& context, const Answer<json::array>& rows, std::string_view nothing,
               const std::function<std::string(const json::array&)>& text) {
  if (!rows) return finish(context, rows.error());
  if (context.settings.json) {
    context.print_json(*rows);
  } else if (rows->empty()) {
    context.terminal.out << nothing << '\n';
  } else {
    context.terminal.out << text(*rows);
  }
  return exit_status::ok;
}

int print_document(const Context& context, const Answer<json::object>& document,
                   const std::function<std::string(const json::object&)>& text) {
  if (!document) return finish(context, document.error());
  if (context.settings.json) {
    context.print_json(*document);
  } else {
    context.terminal.out << text(*document);
  }
  return exit_status::ok;
}

}  // namespace trainward::ctl
