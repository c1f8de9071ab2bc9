// A program's entry as the lessons, tt-train, tt-blacksmith or Hugging Face have it, put into our
// own words: keys moved and renamed (names.hpp), what hangs on several of them settled.
//
// In: the entry's map, of a program for our own worker. Out: the same map for the readers of the
// sections; places of values stay those of the file. What is not known here is left where it
// stands, for the readers to refuse. Failure: problems, naming the key as it stands in the file;
// two keys for one thing are one. Notes say what is accepted and does nothing. Looks whether
// folders that are named exist, and touches nothing else.
#pragma once

#include <string>
#include <vector>

#include "common/yaml/document.hpp"
#include "supervisor/config/reading/config_reading.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::config::elsewhere {

// `usual`: where the file shows all its programs.
void translate(yaml::Node& program, const std::string& path, const Folders& folders,
               const orders::Tracking& usual, std::vector<yaml::Problem>& problems);

// Of a flat file, in which everything stands side by side: our own settings go to the sections they
// belong to. Does nothing where there is a section, or a command.
void gather_flat(yaml::Node& program);

}  // namespace trainward::config::elsewhere
