#include "trainer/loop/setup/load_examples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "common/os/json_file.hpp"
#include "common/protocol/protocol.hpp"
#include "temporary_folder.hpp"
#include "tokenizers.hpp"
#include "trainer/data/examples/report_text.hpp"
#include "trainer/worker/commands/data.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view chat_template =
    "{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}";

class LoadExamplesTest : public testing::Test {
 protected:
  LoadExamplesTest() {
    folder_.write("model/tokenizer.json", json::serialize(chatml_json()));
    folder_.write("model/tokenizer_config.json",
                  R"({"bos_token": null, "eos_token": {"content": "<|endoftext|>"}})");
    write_pairs("train.jsonl", 20, 0);
    config_.base_model = (folder_.path() / "model").string();
    config_.data = {path("train.jsonl")};
    config_.training.block_size = 64;
    config_.training.batch_size = 2;
    config_.training.accumulation = 2;
    config_.training.seed = 9;
    requests_.seen = &never_;
  }
  [[nodiscard]] std::string path(std::string_view name) const {
    return (folder_.path() / name).string();
  }
  void write_pairs(std::string_view name, int pairs, int from) {
    std::string rows;
    for (int i = from; i < from + pairs; ++i) {
      rows += fmt::format("{{\"prompt\": \"number {}\", \"response\": \"{}\"}}\n", i,
                          std::string(static_cast<std::size_t>(1 + i % 7), 'x'));
    }
    folder_.write(name, rows);
  }
  Result<Examples> load(bool resuming = false) {
    said_.clear();
    const auto say = [this](std::string_view text) { said_ += text; };
    const auto notify = [this](const Message& message) {
      if (const auto what = find(message, "DATA_LEFT_OUT")) left_out_ = *what;
    };
    Reporter reporter({notify, say, say, [] { return now(); }});
    return load_examples(config_, folder_.path() / "checkpoints", resuming, requests_, reporter);
  }
  [[nodiscard]] static std::string first(const Examples& examples) {
    return shown_text(show(examples.training_set->at(0), *examples.prompting.tokenizer).value(),
                      "⟦", "⟧");
  }

  const TemporaryFolder folder_;
  WorkerConfig config_;
  RequestsAtSteps requests_;
  std::int64_t never_ = 0;
  std::string said_;
  std::string left_out_;
};

TEST_F(LoadExamplesTest, PlainWhereTheFolderHasNoTemplate) {
  const auto examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  EXPECT_EQ(examples->prompting.format->name(), "plain");
  EXPECT_THAT(first(*examples), AllOf(HasSubstr("number 0"), HasSubstr("⟦x<|endoftext|>⟧")));
  EXPECT_EQ(examples->training_set->size(), 20U);
  EXPECT_EQ(examples->steps_per_epoch(), 5) << "20 rows, 2 a batch, 2 batches a step";
  EXPECT_EQ(examples->held_out, nullptr);
  EXPECT_EQ(config_.training.model.vocabulary, 259);
  EXPECT_THAT(said_, HasSubstr("20 examples in 20 rows of 64 tokens"));
}

TEST_F(LoadExamplesTest, TheFoldersOwnTemplateComesFirst) {
  folder_.write("model/chat_template.jinja", chat_template);
  auto examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  EXPECT_EQ(first(*examples), "[user] number 0<|im_end|>\n[assistant] ⟦x<|im_end|>⟧");
  config_.prompt_format = "chatml";
  examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  EXPECT_THAT(first(*examples), HasSubstr("<|im_start|>assistant\n⟦x<|im_end|>⟧"));
}

TEST_F(LoadExamplesTest, TheTemplateIsGivenWhatItAsksForByName) {
  folder_.write("model/chat_template.jinja", "{{ enable_thinking }}" + std::string(chat_template));
  auto examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  const std::string without = examples->prompting.digest;
  EXPECT_EQ(first(*examples), "[user] number 0<|im_end|>\n[assistant] ⟦x<|im_end|>⟧");
  EXPECT_TRUE(examples->prompting.template_variables.empty());
  config_.template_variables = {{"enable_thinking", false}, {"shots", 3}};
  examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  EXPECT_EQ(first(*examples), "False[user] number 0<|im_end|>\n[assistant] ⟦x<|im_end|>⟧");
  EXPECT_EQ(examples->prompting.template_variables,
            (json::object{{"enable_thinking", false}, {"shots", 3}}));
  EXPECT_NE(examples->prompting.digest, without);
}

TEST_F(LoadExamplesTest, VariablesAreForATemplateAlone) {
  config_.template_variables = {{"enable_thinking", false}};
  EXPECT_THAT(load().error().message(),
              AllOf(HasSubstr("training_config.template_variables: enable_thinking"),
                    HasSubstr("its folder has none")));
  folder_.write("model/chat_template.jinja", chat_template);
  EXPECT_TRUE(load());
  config_.prompt_format = "chatml";
  EXPECT_THAT(load().error().message(), HasSubstr("prompt_format is chatml"));
}

TEST_F(LoadExamplesTest, TheTemplateOfTheConfigGivesWayToTheFile) {
  json::object config{{"eos_token", "<|endoftext|>"},
                      {"chat_template", "{{ raise_exception('no') }}"}};
  folder_.write("model/tokenizer_config.json", json::serialize(config));
  EXPECT_FALSE(load());
  folder_.write("model/chat_template.jinja", chat_template);
  EXPECT_TRUE(load());
  config["chat_template"] = json::array{json::object{{"name", "tool_use"}, {"template", "x"}},
                                        json::object{{"name", "default"}, {"template", "y"}}};
  folder_.write("model/tokenizer_config.json", json::serialize(config));
  std::filesystem::remove(folder_.path() / "model/chat_template.jinja");
  EXPECT_EQ(read_folder_prompts(folder_.path() / "model")->chat_template, "y");
}

TEST_F(LoadExamplesTest, ErrorsNameTheKey) {
  config_.prompt_format = "template";
  EXPECT_THAT(load().error().message(), HasSubstr("training_config.prompt_format: is template"));
  config_.prompt_format = "auto";
  config_.columns = {{"promt", "x"}};
  EXPECT_THAT(load().error().message(), HasSubstr("training_config.column_mapping: 'promt'"));
  config_.columns.clear();
  config_.base_model = path("nowhere");
  auto missing = load();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::usage);
  EXPECT_THAT(missing.error().message(), HasSubstr("training_config.tokenizer"));
  EXPECT_EQ(load(true).error().kind, ErrorKind::permanent) << "a network folder may come back";
}

TEST_F(LoadExamplesTest, EvaluationsNeedSomethingToReadAndItIsNeverTrainedOn) {
  config_.evaluate_every = 5;
  EXPECT_THAT(load().error().message(), HasSubstr("training_config.evaluate_every"));
  config_.validation_share = 0.2;
  const auto examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  ASSERT_NE(examples->held_out, nullptr);
  EXPECT_EQ(examples->held_out_rows->examples(), 4);
  EXPECT_EQ(examples->training_rows->examples(), 16);
  EXPECT_EQ(examples->held_out->batches(), 2);
  // By the text of the prompt, which is another in each row.
  const auto prompts_in = [&](const TokenBatch& batch, std::set<std::string>& found) {
    for (std::size_t at = 0; at < batch.ids.size(); at += 64) {
      const auto text = examples->prompting.tokenizer->decode(batch.ids.subspan(at, 64)).value();
      if (text.starts_with("number")) found.insert(text.substr(0, text.find('x')));
    }
  };
  std::set<std::string> trained;
  std::set<std::string> held_out;
  for (std::int64_t step = 0; step < 3 * examples->steps_per_epoch(); ++step) {
    prompts_in(examples->training->next().value(), trained);
  }
  for (std::int64_t i = 0; i < examples->held_out->batches(); ++i) {
    prompts_in(examples->held_out->batch(i).value(), held_out);
  }
  EXPECT_EQ(trained.size(), 16U);
  EXPECT_EQ(held_out.size(), 4U);
  for (const std::string& prompt : held_out) EXPECT_FALSE(trained.contains(prompt));
  EXPECT_EQ(examples->also_trained_on, 0);
}

TEST_F(LoadExamplesTest, AValidationFileOfItsOwn) {
  write_pairs("valid.jsonl", 6, 17);  // three of them are trained on too
  config_.validation_data = {path("valid.jsonl")};
  config_.validation_share = 0.5;  // gives way to the file
  const auto examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  EXPECT_EQ(examples->training_rows->examples(), 20);
  EXPECT_EQ(examples->held_out_rows->examples(), 6);
  EXPECT_EQ(examples->held_out->batches(), 3);  // of two rows, as batches of training
  EXPECT_EQ(examples->also_trained_on, 3);
  EXPECT_THAT(said_, HasSubstr("3 examples are both evaluated on and trained on"));
  EXPECT_EQ(examples->validation_report->examples, 6);
}

TEST_F(LoadExamplesTest, BadRowsGoToTheQuarantine) {
  folder_.write("bad.jsonl", "{\"prompt\": \"a\", \"response\": \"b\"}\n{\"prompt\": \"a\"}\n");
  config_.data = {path("bad.jsonl")};
  const auto examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  EXPECT_EQ(examples->report.bad_rows, 1);
  EXPECT_EQ(left_out_,
            "warning: 1 of 2 rows (50 %) is left out, the first bad.jsonl:2: has no 'response'");
  EXPECT_THAT(said_,
              AllOf(HasSubstr("bad.jsonl:2: has no 'response'"), HasSubstr("bad-lines.jsonl")));
  const auto aside = read_json_file(path("checkpoints/bad-lines.jsonl"), 10'000);
  ASSERT_TRUE(aside);
  EXPECT_EQ(aside->at("line"), 2);
}

TEST_F(LoadExamplesTest, DigestsKnowWhatDecidesTheTokens) {
  const auto digests = [this] {
    const auto examples = load();
    EXPECT_TRUE(examples);
    return std::pair(examples->digest, config_.digest);
  };
  const auto one = digests();
  EXPECT_EQ(digests(), one);
  config_.prompt_format = "chatml";
  const auto other_form = digests();
  EXPECT_NE(other_form.first, one.first);
  EXPECT_NE(other_form.second, one.second) << "its text, not only its name, decides the weights";
  config_.prompt_format = "auto";
  folder_.write("model/chat_template.jinja", chat_template);
  const auto own = digests();
  EXPECT_NE(own.second, one.second) << "auto is what the folder says";
  std::filesystem::remove(folder_.path() / "model/chat_template.jinja");
  write_pairs("train.jsonl", 21, 0);
  EXPECT_NE(digests().first, one.first);
  EXPECT_EQ(digests().second, one.second) << "changed data is told, not refused";
}

// The same run cut by its plan into smaller batches sees the same rows in the same steps.
TEST_F(LoadExamplesTest, StepsDoNotDependOnHowTheyAreCut) {
  const auto step = [this](std::int64_t batch, std::int64_t accumulation) {
    config_.training.batch_size = batch;
    config_.training.accumulation = accumulation;
    auto examples = load();
    EXPECT_TRUE(examples);
    examples->training->skip();
    const TokenBatch all = examples->training->next().value();
    return std::pair(std::vector(all.ids.begin(), all.ids.end()),
                     std::vector(all.weights.begin(), all.weights.end()));
  };
  const auto whole = step(4, 1);
  EXPECT_EQ(step(2, 2), whole);
  EXPECT_EQ(step(1, 4), whole);
}

TEST_F(LoadExamplesTest, EpochsAreANumberOfSteps) {
  const auto examples = load();
  ASSERT_TRUE(examples);
  config_.steps = 300;
  EXPECT_EQ(examples->steps_of(config_), 300);
  config_.num_epochs = 3;
  EXPECT_EQ(examples->steps_of(config_), 15);
  config_.steps = 7;
  EXPECT_EQ(examples->steps_of(config_), 7) << "whichever comes first";
  config_.steps = 0;
  EXPECT_EQ(examples->steps_of(config_), 15);
}

TEST_F(LoadExamplesTest, WhetherDataIsExamples) {
  folder_.write("book.txt", "text");
  EXPECT_TRUE(data_is_examples(config_).value());
  config_.data.push_back(path("book.txt"));
  EXPECT_FALSE(data_is_examples(config_).value());
  config_.data_form = "examples";
  EXPECT_TRUE(data_is_examples(config_).value());
  config_.data_form = "auto";
  config_.data.pop_back();
  config_.base_model.clear();
  EXPECT_FALSE(data_is_examples(config_).value()) << "runs from scratch are what they were";
}

TEST_F(LoadExamplesTest, ATableOfTextIsNeitherExamplesNorMeantAsText) {
  folder_.write("pairs.csv", "prompt,response\na,b\n");
  config_.data = {path("pairs.csv")};
  auto refused = data_is_examples(config_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("pairs.csv: is a table of text (CSV)"),
                                               HasSubstr("data_form: stream")));
  EXPECT_FALSE(data_is_examples(config_, true).value()) << "a run that began so goes on so";
  config_.data_form = "stream";
  EXPECT_FALSE(data_is_examples(config_).value());
}

TEST_F(LoadExamplesTest, AModelThatBeginsItsTexts) {
  folder_.write("llama/tokenizer.json", json::serialize(llama2_json()));
  config_.base_model = path("llama");
  const auto examples = load();
  ASSERT_TRUE(examples) << examples.error().message();
  for (std::uint32_t i = 0; i < examples->training_set->size(); ++i) {
    const Example example = examples->training_set->at(i);
    EXPECT_EQ(example.ids.front(), 1);
    EXPECT_EQ(std::ranges::count(example.ids, 1), 1);
    EXPECT_EQ(example.ids.back(), 2);
    EXPECT_EQ(example.targets.back(), 1);
  }
  EXPECT_EQ(examples->report.without_beginning + examples->report.beginning_twice, 0);
}

// A form whose end is no token of this tokenizer: its last letter ends no answer.
TEST_F(LoadExamplesTest, AnEndThatIsNoTokenIsRefusedAndItsLettersEndNothing) {
  folder_.write("llama/tokenizer.json", json::serialize(llama2_json()));
  config_.base_model = path("llama");
  config_.prompt_format = "chatml";
  const auto refused = load();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message(),
              AllOf(HasSubstr("training_config.prompt_format: chatml ends answers with <|im_end|>"),
                    HasSubstr("zephyr")));
  EXPECT_EQ(open_prompting(config_)->rules.ends, std::vector<TokenId>{2}) << "of older checkpoints";
  // A run that began so goes on, under the digest that it has always had, and learns to end.
  keep_edition(config_, 1);
  config_.training.block_size = 256;
  const auto older = load(true);
  ASSERT_TRUE(older) << older.error().message();
  EXPECT_THAT(said_, HasSubstr("chatml ends answers with <|im_end|>"));
  EXPECT_EQ(older->training_set->at(0).ids.back(), 2);
  EXPECT_EQ(older->prompting.digest,
            "c1456265da489e4a8e21438affbbaad9e146cc34d73080130f7fb58ee499fd1a");
  config_.prompt_format = "zephyr";
  keep_edition(config_, current_edition);
  EXPECT_TRUE(load());
}

// What a server makes of the template is all that the model sees there.
TEST_F(LoadExamplesTest, TheModelsOwnTemplateBeginsAsItSays) {
  folder_.write("llama/tokenizer.json", json::serialize(llama2_json()));
  folder_.write("llama/tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": "</s>"})");
  const std::string words =
      "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}{{ eos_token }}\n{% endfor %}"
      "{% if add_generation_prompt %}[assistant] {% endif %}";
  folder_.write("llama/chat_template.jinja", words);
  folder_.write("more.jsonl", "{\"prompt\": \"a\", \"response\": \"b\"}\n{\"text\": \"c\"}\n");
  config_.base_model = path("llama");
  config_.data = {path("more.jsonl")};
  const auto beginnings = [this] {
    const auto examples = load();
    EXPECT_TRUE(examples) << examples.error().message();
    EXPECT_EQ(examples->report.without_beginning, 0);
    return std::pair(examples->training_set->at(0).ids.front() == 1,
                     examples->training_set->at(1).ids.front() == 1);
  };
  EXPECT_EQ(beginnings(), std::pair(false, true)) << "a text of its own has no template";
  const std::string now = open_prompting(config_)->digest;
  keep_edition(config_, 1);
  EXPECT_EQ(beginnings(), std::pair(true, true)) << "a run keeps what it began with";
  EXPECT_NE(open_prompting(config_)->digest, now);
  folder_.write("llama/chat_template.jinja", "{{ bos_token }}" + words);
  const std::string before = open_prompting(config_)->digest;
  keep_edition(config_, current_edition);
  EXPECT_EQ(beginnings(), std::pair(true, true)) << "the template says so";
  EXPECT_EQ(open_prompting(config_)->digest, before) << "nothing has changed for it";
}

TEST_F(LoadExamplesTest, TheCommandShowsATableAndExamples) {
  const json::object config{
      {"training_config", json::object{{"base_model", config_.base_model},
                                       {"data", json::array{path("train.jsonl")}},
                                       {"data_form", "examples"},
                                       {"packing", true},
                                       {"num_epochs", 2},
                                       {"block_size", 64},
                                       {"batch_size", 2}}}};
  folder_.write("config.json", json::serialize(config));
  std::string out;
  const CommandPorts ports{requests_, [&](std::string_view text) { out += text; },
                           [this](std::string_view text) { said_ += text; }, [] { return 0; },
                           [] { return ProgressBar::Time(); }};
  DataOptions options;
  options.config_file = path("config.json");
  ASSERT_EQ(run_data(options, ports), exit_code::done) << said_;
  EXPECT_THAT(out, AllOf(HasSubstr("examples                          20\n"),
                         HasSubstr("⟦xxxxx<|endoftext|>⟧"), HasSubstr("--- 5"),
                         Not(HasSubstr("--- 6")), HasSubstr("An epoch is")));
  out.clear();
  options.json = true;
  ASSERT_EQ(run_data(options, ports), exit_code::done) << said_;
  const auto object = parse_json(out, "");
  ASSERT_TRUE(object) << out;
  EXPECT_EQ(object->at("data").at("examples"), 20);
  EXPECT_EQ(object->at("examples").as_array().size(), 5U);
  EXPECT_LT(object->at("rows").as_int64(), 20) << "packed";
  EXPECT_EQ(object->at("steps").as_int64(), 2 * object->at("steps_per_epoch").as_int64());
  folder_.write("stream.json", R"({"training_config": {"data": ["/usr"]}})");
  options.config_file = path("stream.json");
  EXPECT_EQ(run_data(options, ports), exit_code::configuration);
  EXPECT_THAT(said_, HasSubstr("training_config.data_form: the data of this run is one stream"));
  options.config_file = path("missing.json");
  EXPECT_EQ(run_data(options, ports), exit_code::configuration);
  said_.clear();
  options.config_file = path("missing\x1b]0;pwned\a\u202E.json");
  EXPECT_EQ(run_data(options, ports), exit_code::configuration);
  EXPECT_THAT(said_, HasSubstr("missing?]0;pwned??.json"));
}

}  // namespace
}  // namespace trainward::trainer
