// The page, served beside the API: a line a page, section or file.
//
//   GET  /                              all programs; of a single one its page below
//   GET  /programs/NAME                 ?attempt=N: why that one ended; ?before=N: older attempts
//   GET  /programs/NAME/sections/ID     what stands inside <section id="ID">, with an ETag
//   GET  /sections/summary              the same of all programs
//   GET  /programs/NAME/actions/VERB    what it would cost, and a form that asks for it
//   POST /programs/NAME/actions/VERB    does it if the form says confirm=yes, and asks first
//   otherwise GET  /assets/FILE, /favicon.svg     what the page is made of
#pragma once

#include "supervisor/window/api/routes/route_table.hpp"
#include "supervisor/window/page/assets.hpp"

namespace trainward::page {

void add_pages(api::Table& table, const Assets& assets);

// Its parts.
void add_files(api::Table& table, const Assets& assets);
void add_actions(api::Table& table, const Look& look);

// Errors as pages for clients that ask for one (Accept: text/html): people who follow links. What
// is asked of the API (/v1/) keeps its documents.
api::Handler with_error_pages(api::Handler handler, const Look& look);

// A page that no cache keeps.
api::Response page_response(std::string html, int status = 200);
// A piece of a page, with a tag; 304 to who has it already.
api::Response section_response(const api::Request& request, const Html& html);

}  // namespace trainward::page
