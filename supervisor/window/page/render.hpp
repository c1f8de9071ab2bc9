// A program's page, from its documents: sections in their order, and whole pages around them. Pure.
//
// The classes and ids in it are what page.css and page.js work with.
#pragma once

#include <string>
#include <string_view>

#include "supervisor/window/page/html.hpp"
#include "supervisor/window/page/page_documents.hpp"

namespace trainward::page {

// What stands inside <section id="ID">; empty for an unknown id.
Html section(std::string_view id, const Documents& documents);
// The same with the element around it.
Html whole_section(std::string_view id, const Documents& documents);

// The sections one by one.
Html summary_section(const Documents& documents);
Html curve_section(const Documents& documents);
Html time_section(const Documents& documents);
Html attempts_section(const Documents& documents);
Html why_section(const Documents& documents);
Html log_section(const Documents& documents);
Html boards_section(const Documents& documents);
Html checkpoints_section(const Documents& documents);
Html learning_section(const Documents& documents);
Html events_section(const Documents& documents);

// How a page looks and lives: the names of its files, or (a file to send) the style sheet itself.
struct Look {
  std::string css_file = {};              // "page.HASH.css"
  std::string script_file = {};           // "page.HASH.js"
  std::vector<std::string> modules = {};  // what that script imports
  std::string style = {};                 // of a page in one file; nothing is fetched then
};

std::string program_page(const Documents& documents, const Look& look);
// All programs; of a single one its page below.
std::string overview_page(const Documents& documents, const Look& look);
// A static file: no script, no form, nothing to fetch.
std::string report_page(const Documents& documents, const Look& look);

// What went wrong, and what to do: `status` is that of the answer.
std::string error_page(int status, const Error& error, const Look& look);
// `rehearsal` is the answer of POST /v1/programs/NAME/VERB?dry_run=1.
std::string confirm_page(std::string_view program, std::string_view verb,
                         const json::object& rehearsal, const Look& look);

}  // namespace trainward::page
