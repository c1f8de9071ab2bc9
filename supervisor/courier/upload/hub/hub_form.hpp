// A checkpoint in the form that its readers want: a file for torch.load, the weights alone, or a
// model's folder.
//
// What is written lies in a folder of its own below `scratch` until it is opened, and is removed
// then: it needs room for the copy until the package goes, and nothing is left behind. A process
// that died meanwhile leaves that folder to the next one, which removes it. The bytes are the same
// each time, so what has arrived is not sent again.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string_view>

#include "checkpoint/huggingface/writing/model_card.hpp"
#include "common/base/error.hpp"
#include "common/os/credentials.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload::hub {

struct FormOptions {
  std::filesystem::path scratch;  // nobody else's, made when needed
  // With whose rights the checkpoint is read and the copy written: it names other folders, of its
  // base model for one, and what its owner may not read nobody reads for them.
  std::optional<Credentials> reader = {};
  std::stop_token stop = {};
  checkpoint::huggingface::ModelCardFacts card = {};
};

// `form`: "as-is", "pytorch" (pretrain_step00001234.pt in torch.save's legacy layout, all that
// training goes on from), "safetensors" (the weights alone) or "folder" (as transformers and PEFT
// open it). `checkpoint`: where the package's files lie. Only a checkpoint of our own trainer
// changes its form: any other package comes back as it is. Errors: as of export_pytorch(),
// convert_to_plain_model() and export_model(), kind usage for a model that cannot be written so;
// transient when stopped, or when the disk has no room for the copy and one more checkpoint.
Result<Package> in_form(Package package, const std::filesystem::path& checkpoint,
                        std::string_view form, const FormOptions& options);

}  // namespace trainward::upload::hub
