// Models of the Llama family where people have them: as folders of Hugging Face's and PEFT's kind,
// and as checkpoints of runs that began from one.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/huggingface/export.hpp"
#include "checkpoint/huggingface/model/model_record.hpp"
#include "data/examples/tokenizers.hpp"
#include "generate/made_models.hpp"
#include "trainer/model/huggingface/base_model.hpp"

namespace trainward::trainer::test {

namespace fs = std::filesystem;

// ids of the tokenizer in characters below, and some rows more than it has.
inline constexpr std::int64_t folder_vocabulary = 365;

inline ModelSpec folder_model() {
  ModelSpec model = made_llama(2);
  model.vocabulary = folder_vocabulary;
  model.positions = 300;
  return model;
}

inline void write_file(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

inline fs::path save(const fs::path& root, const Trainable& model, json::object facts,
                     std::int64_t step) {
  checkpoint::TrainingState at;
  at.step = step;
  at.extra[model_facts] = std::move(facts);
  auto saved = checkpoint::save(
      root, checkpoint::Contents{at, model.model_state(), model.optimizer_state()});
  EXPECT_TRUE(saved) << saved.error().message();
  return *saved;
}

// A base model of bf16 with the tokenizer and settings that come with one.
inline fs::path write_base(const fs::path& root, std::uint64_t seed = 5) {
  TrainingSpec spec = tiny_spec();
  spec.model = folder_model();
  const auto model = make(spec);
  fill_with_numbers(*model, seed);
  const fs::path scratch = root / fmt::format("scratch{}", seed);
  const fs::path folder = root / fmt::format("base{}", seed);
  const auto from = save(scratch, *model, architecture_of(spec.model).facts(spec.model), 1);
  checkpoint::huggingface::ExportOptions options;
  options.type = checkpoint::DType::bf16;
  auto exported = checkpoint::huggingface::export_model(from, folder, options);
  EXPECT_TRUE(exported) << exported.error().message();
  write_file(folder / "tokenizer.json", json::serialize(llama2_json()));
  write_file(folder / "tokenizer_config.json",
             R"({"bos_token": "<s>", "eos_token": "</s>", "chat_template":
"{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}</s>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"})");
  write_file(folder / "generation_config.json", R"({"eos_token_id": [2, 259]})");
  return folder;
}

// A run of adapters over a base, trained for some steps, and its checkpoint.
struct AdapterRun {
  TrainingSpec spec;
  std::unique_ptr<BaseModel> base;
  std::unique_ptr<Trainable> model;
  fs::path checkpoint;
};

inline AdapterRun adapter_run(const fs::path& root, const fs::path& base,
                              const std::string& chat_template = {},
                              const json::object& template_variables = {}) {
  AdapterRun run;
  run.base = BaseModel::open(base.string()).value();
  run.spec = tiny_spec();
  run.spec.model = run.base->model();
  run.spec.model.lora = {3, 6, 0, false, 0b1100101};
  run.model = make_cpu_model(run.spec, run.base.get()).value();
  fill_with_numbers(*run.model, 9);
  json::object facts = architecture_of(run.spec.model).facts(run.spec.model);
  const auto record = checkpoint::huggingface::base_of(run.base->folder());
  facts["config"] = run.base->folder().config();
  facts["base_model"] =
      json::object{{"folder", record->folder.string()}, {"digest", record->digest}};
  if (!chat_template.empty()) facts["chat_template"] = chat_template;
  if (!template_variables.empty()) facts["template_variables"] = template_variables;
  run.checkpoint = save(root / "run", *run.model, std::move(facts), 8);
  return run;
}

}  // namespace trainward::trainer::test
