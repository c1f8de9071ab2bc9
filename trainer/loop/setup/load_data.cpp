#include "trainer/loop/setup/load_data.hpp"

#include "common/base/text.hpp"
#include "trainer/data/left_out.hpp"
#include "trainer/loop/setup/reading_progress.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {
namespace {

// Nothing for bytes, which a corpus keeps in its own way.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const WorkerConfig& config) {
  if (config.tokenizer == "byte" && config.end_of_text.empty()) {
    return std::unique_ptr<Tokenizer>();
  }
  auto tokenizer = open_tokenizer(config.tokenizer, config.end_of_text);
  if (!tokenizer) {
    std::string& where = tokenizer.error().where;
    where = fmt::format("training_config.{}{}", where == "end_of_text" ? "" : "tokenizer: ", where);
    // The user has to repair the file or name another.
    tokenizer.error().kind = ErrorKind::usage;
  }
  return tokenizer;
}

void tell_what_was_left_out(const Corpus& corpus, const Quarantine& quarantine,
                            Reporter& reporter) {
  if (const auto& unread = corpus.unread(); !unread.empty()) {
    reporter.error(fmt::format("{}: left out of the data: {} ({} in all)",
                               unread.front().path.string(), unread.front().reason,
                               count(static_cast<std::int64_t>(unread.size()), "file")));
  }
  if (corpus.bad_lines() > 0) {
    reporter.error(fmt::format("{}: left out of the data ({} in all, see {})",
                               corpus.first_bad_line(), count(corpus.bad_lines(), "line"),
                               quarantine.path().string()));
  }
  const std::string left_out =
      left_out_text({corpus.documents(), corpus.bad_lines(), corpus.first_bad_line(), 0,
                     std::ssize(corpus.unread())});
  if (!left_out.empty()) reporter.left_out(left_out);
}

Result<Corpus> read_corpus(const WorkerConfig& config, Tokenizer* tokenizer, Quarantine& quarantine,
                           const Requests& requests, Reporter& reporter) {
  CorpusOptions options;
  options.format = config.data_format;
  options.tokenizer = tokenizer;
  options.vocabulary = config.vocabulary > 0 ? config.vocabulary : config.model_vocabulary;
  options.bad_line = [&](const BadLine& line) -> Status {
    if (auto ok = quarantine.put(line); !ok && quarantine.lines() <= 1) {
      reporter.error(ok.error().message());  // costs the copy, not the run
    }
    return {};
  };
  options.progress = reading_progress("data", requests, reporter);
  auto corpus = Corpus::read(config.data, config.training.block_size, options);
  if (!corpus) {
    std::string& where = corpus.error().where;
    if (where == "vocabulary" || where == "tokenizer") where = "training_config." + where;
  }
  return corpus;
}

}  // namespace

Result<Corpus> load_data(WorkerConfig& config, const std::filesystem::path& checkpoints,
                         bool resuming, const Requests& requests, Reporter& reporter) {
  auto tokenizer = load_tokenizer(config);
  if (!tokenizer) {
    if (resuming) tokenizer.error().kind = ErrorKind::permanent;
    return propagate(tokenizer);
  }
  reporter.status(fmt::format("reading the data: {}", fmt::join(config.data, ", ")));
  Quarantine quarantine(checkpoints / "bad-lines.jsonl");
  auto corpus = read_corpus(config, tokenizer->get(), quarantine, requests, reporter);
  if (!corpus) {
    if (resuming) corpus.error().kind = ErrorKind::permanent;
    return corpus;
  }
  tell_what_was_left_out(*corpus, quarantine, reporter);
  if (auto ok = fit_to_data(config, corpus->vocabulary(), corpus->tokenizer_digest()); !ok) {
    return propagate(ok);
  }
  reporter.status(fmt::format("data: {}, {}, {} of {}", count(corpus->documents(), "document"),
                              count(corpus->tokens(), "token"), count(corpus->blocks(), "block"),
                              corpus->block_size()));
  return corpus;
}

}  // namespace trainward::trainer
