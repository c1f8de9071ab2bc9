// What the text of a training script says about itself. Pure; nothing of it is run.
#pragma once

#include <string>
#include <string_view>

namespace trainward::ctl {

struct Script {
  std::string framework;      // for people: "Hugging Face Trainer"; empty: none that we know
  std::string resume_option;  // takes the path of a checkpoint: "--resume"; empty: none was found
  std::string resume_flag;    // takes none, and makes it go on: "--resume"; empty: none was found
  std::string resumes;        // how it goes on by itself, for people; may be empty
  bool distributed = false;   // speaks of ranks: torchrun may start it
  bool trains = false;        // something in it trains
  bool saves = false;         // something in it is saved
};

Script read_script(std::string_view text);

}  // namespace trainward::ctl
