// metrics: what monitoring reads, printed, or as a file for node_exporter's textfile collector.
#include <sys/stat.h>

#include "common/base/version.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/new_file.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "supervisor/record/metrics/expose.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

struct MetricsRequest {
  std::string textfile;  // empty: stdout
  bool openmetrics = false;
};

constexpr unsigned everybody_reads = 0644;

// As of the last record: since then nobody has watched, and no time is added.
Result<json::value> from_database(const store::Store& store, const Context& context,
                                  metrics::Format format) {
  metrics::Live live;
  live.version = std::string(version_text);
  live.folders.push_back({"state", "", context.settings.state_dir});
  auto newest = store.newest_ms();
  if (!newest) return propagate(newest);
  auto snapshot = metrics::Collector().snapshot(store, live, Time{{*newest}, {}});
  if (!snapshot) return propagate(snapshot);
  return json::value(metrics::expose(*snapshot, format));
}

Answer<std::string> exposition(const Context& context, metrics::Format format) {
  const std::string target = format == metrics::Format::openmetrics ? "/metrics?format=openmetrics"
                                                                    : "/metrics?format=text";
  auto reply = client_of(context).request(Method::get, target, short_deadline);
  if (reply) return std::move(reply->body);
  auto text = ask_without_daemon(context, reply.error(), [&](const store::Store& store) {
    return from_database(store, context, format);
  });
  if (!text) return tl::unexpected<Failure>(std::move(text.error()));
  return std::string(text->as_string());
}

int show_metrics(const Context& context, const MetricsRequest& request) {
  auto text = exposition(
      context, request.openmetrics ? metrics::Format::openmetrics : metrics::Format::text);
  if (!text) return finish(context, text.error());
  if (request.textfile.empty()) {
    context.terminal.out << *text;
    return exit_status::ok;
  }
  // node_exporter runs as another user, whatever this one's umask is.
  const mode_t before = ::umask(S_IWGRP | S_IWOTH);
  auto written = write_new_file(request.textfile, *text, everybody_reads, Existing::replace);
  ::umask(before);
  if (!written) return finish(context, {exit_status::failed, std::move(written.error())});
  return exit_status::ok;
}

}  // namespace

void add_metrics(Cli& cli) {
  auto& request = cli.keep<MetricsRequest>();
  const Verb verb = cli.verb("metrics", "what Prometheus reads, of every program and board");
  verb.option("--textfile", request.textfile,
              "write it into this file instead, whole or not at all, for "
              "node_exporter's textfile collector (NAME.prom)");
  verb.flag("--openmetrics", request.openmetrics, "as OpenMetrics 1.0 instead of Prometheus' text")
      .excludes("--textfile");
  cli.on(verb, request, show_metrics);
}

}  // namespace trainward::ctl
