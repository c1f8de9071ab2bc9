// A model's folder as the weights a run begins with.
//
// In: a folder as Hugging Face's tools write it (checkpoint/huggingface/model/model_folder.hpp), of
// an architecture that reads such folders (Architecture::read_config). Out: the sizes its
// config.json says, and its tensors where they are mapped. Errors: usage with what to do, for a
// damaged folder or one without a model, a family that is not built, tensors that config.json has
// no place for, and an output head that is said to be tied to the embedding and is another;
// transient, where reading may succeed later.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/huggingface/model/model_folder.hpp"
#include "checkpoint/huggingface/model/tensor_names.hpp"
#include "common/base/error.hpp"
#include "trainer/model/edition.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/base_weights.hpp"

namespace trainward::trainer {

class BaseModel final : public BaseWeights {
 public:
  // `folder` as a person wrote it: "~/models/tiny". `edition`: of the run that it is opened for;
  // the first left tensors out that have no place, and knew of keys that contradict each other
  // which one counts.
  static Result<std::unique_ptr<BaseModel>> open(std::string_view folder,
                                                 int edition = current_edition);

  // Usage: a weight that is no number. Reads all of them.
  [[nodiscard]] Status check_numbers() const;

  [[nodiscard]] std::optional<Tensor> find(std::string_view name) const override;

  // With the vocabulary of the config.json; frozen matrices are bf16 where all of the files' are.
  [[nodiscard]] const ModelSpec& model() const { return model_; }
  [[nodiscard]] const checkpoint::huggingface::ModelFolder& folder() const { return folder_; }
  // Tensors that the model does not have and does not miss: nothing is done with them.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  explicit BaseModel(checkpoint::huggingface::ModelFolder folder) : folder_(std::move(folder)) {}
  Status look(int edition);
  [[nodiscard]] Status check_left_out() const;

  checkpoint::huggingface::ModelFolder folder_;
  ModelSpec model_;
  checkpoint::huggingface::TensorNames names_;
  std::vector<std::string> left_out_;
};

}  // namespace trainward::trainer
