#include "trainer/model/base_model.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "checkpoint/huggingface/folder_path.hpp"
#include "trainer/model/llama/config.hpp"

namespace trainward::trainer {
namespace {

namespace hf = checkpoint::huggingface;

// Where tied, some files hold the embedding a second time.
Status check_tied(const hf::ModelFolder& folder) {
  const checkpoint::TensorView* head = folder.find("lm_head.weight");
  const checkpoint::TensorView* embedding = folder.find("model.embed_tokens.weight");
  if (head == nullptr || embedding == nullptr) return {};
  const bool same = std::ranges::equal(head->bytes, embedding->bytes);
  if (same) return {};
  return fail(ErrorKind::usage,
              "tie_word_embeddings is true, and the files hold an lm_head.weight that is not the "
              "embedding",
              folder.path().string(),
              "write \"tie_word_embeddings\": false into its config.json to train that head, or "
              "take lm_head.weight out of its files");
}

}  // namespace

Result<std::unique_ptr<BaseModel>> BaseModel::open(std::string_view folder) {
  auto opened = hf::ModelFolder::open(hf::folder_path(folder));
  if (!opened) return propagate(opened);
  std::unique_ptr<BaseModel> base(new BaseModel(*std::move(opened)));
  if (auto ok = base->look(); !ok) return propagate(ok);
  return base;
}

Status BaseModel::look() {
  auto model = read_llama_config(folder_.config(), (folder_.path() / "config.json").string());
  if (!model) return propagate(model);
  model_ = *model;
  if (model_.tied) {
    if (auto ok = check_tied(folder_); !ok) return ok;
  }
  std::set<std::string, std::less<>> known;
  const ParameterTable table = make_parameter_table(model_, 2);
  for (const ParameterInfo& info : table.infos) known.insert(info.name);
  bool all_bf16 = true;
  for (const checkpoint::TensorView& tensor : folder_.tensors()) {
    if (!known.contains(tensor.info.name)) {
      if (tensor.info.name != "lm_head.weight") left_out_.push_back(tensor.info.name);
    } else if (tensor.info.shape.size() > 1) {
      all_bf16 = all_bf16 && tensor.info.dtype == checkpoint::DType::bf16;
    }
  }
  model_.frozen = all_bf16 ? graph::Element::bf16 : graph::Element::f32;
  // All of them now, and not the first one hours later.
  for (const ParameterInfo& info : table.infos) {
    if (info.role == Role::table) continue;
    if (auto tensor = base_tensor(*this, info); !tensor) {
      tensor.error().where = folder_.path().string();
      return propagate(tensor);
    }
  }
  return {};
}

std::optional<BaseWeights::Tensor> BaseModel::find(std::string_view name) const {
  const checkpoint::TensorView* tensor = folder_.find(name);
  if (tensor == nullptr) return std::nullopt;
  return Tensor{tensor->info.dtype, tensor->info.shape, tensor->bytes};
}

}  // namespace trainward::trainer
