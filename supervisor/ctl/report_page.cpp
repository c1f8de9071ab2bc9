#include "supervisor/ctl/report_page.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/logs/log_source.hpp"
#include "supervisor/record/store/store.hpp"
#include "supervisor/window/page/assets.hpp"
#include "supervisor/window/page/page_documents.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::ctl {
namespace {

constexpr std::int64_t log_bytes = 32'768;

// What cannot be read is left out: the report stands without.
void add_log(const Context& context, page::Documents& documents) {
  auto piece =
      read_log_piece(context, {documents.view.program, "stdout", 0, -log_bytes, log_bytes});
  if (!piece) return;
  documents.log = std::move(piece->bytes);
  documents.log_attempt = piece->attempt;
}

// What stands in the way is told of the file that was named, not of the one beside it that is
// written first.
Status write_page(const std::filesystem::path& file, const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    return fail(ErrorKind::usage, "is a folder", file.string(),
                "name a file in it, such as " + (file / "report.html").string());
  }
  auto written = write_file_durably(file, text);
  if (written) return written;
  Error error = written.error();
  error.what = "the report cannot be written: " + error.what;
  error.where = file.string();
  error.hint = "name a file in a folder that is there and that you may write to, or - for stdout";
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

int write_report_page(const Context& context, const std::string& program,
                      const std::filesystem::path& file) {
  page::Documents documents;
  documents.view = {
      .program = program, .now_ms = context.terminal.now.wall.ms, .operates = false, .still = true};
  std::optional<Failure> failure;
  // That the daemon does not answer is said once, and not before each of the documents.
  std::ostream nowhere(nullptr);
  Terminal silent{context.terminal.out, nowhere, context.terminal.colour, context.terminal.width,
                  context.terminal.now};
  const Context again{context.settings, silent};
  bool asked = false;
  const auto got =
      page::gather(documents, "", [&](const page::Question& question) -> Result<json::value> {
        auto answer = ask(asked ? again : context, question.target, question.read);
        asked = true;
        if (answer) return std::move(*answer);
        if (!failure) failure = answer.error();
        return tl::unexpected<Error>(answer.error().error);
      });
  if (!got) return finish(context, failure ? *failure : Failure{1, got.error()});
  if (page::row_of(documents) == nullptr && documents.attempts.empty()) {
    return finish(
        context,
        {1, {ErrorKind::usage, "no such program", program, "trainwardctl status lists them"}});
  }
  add_log(again, documents);
  const std::string text = page::report_page(documents, page::Assets::look_in_one_file());
  if (file == "-") {
    context.terminal.out << text;
    return 0;
  }
  if (auto written = write_page(file, text); !written) {
    return finish(context, {1, written.error()});
  }
  context.terminal.out << "written: " << clean(file.string()) << '\n';
  return 0;
}

}  // namespace trainward::ctl
