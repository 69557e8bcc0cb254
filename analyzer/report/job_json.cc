// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/ranks/identity.h"
#include "analyzer/ranks/job.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json view_json(const RankSummary& rank, const RankDevice& device) {
  const DeviceView& view = device.view;
  return {{"rank", rank.identity.rank},
          {"device", device.ordinal},
          {"span_ns", view.span.ns},
          {"compute_ns", view.compute.ns},
          {"exposed_comm_ns", view.exposed_comm.ns},
          {"exposed_copy_ns", view.exposed_copy.ns},
          {"idle_ns", view.idle.ns},
          {"comm_ns", view.comm.ns},
          {"overlap_ns", view.overlap.ns},
          {"kernels", view.kernels},
          {"copies", view.copies},
          {"memsets", view.memsets}};
}

Json partition_json(const RankSummary& rank, const RankDevice& device) {
  DurationNs total = device.per_steady_step.total();
  Json json = {{"rank", rank.identity.rank},
               {"steady_steps", device.steady_steps},
               {"ns_per_step", total.ns},
               {"hidden_comm_ns", device.hidden_comm.ns},
               {"hidden_h2d_ns", device.hidden_h2d.ns},
               {"classes", Json::object()}};
  json["device"] = device.on_host ? Json() : Json(device.ordinal);
  if (device.on_host) json["of"] = to_valid_utf8(device.name);
  for (const TimeClassInfo& c : time_classes()) {
    DurationNs time = device.per_steady_step[c.time_class];
    json["classes"][std::string(c.id)] = {{"ns_per_step", time.ns}, {"share", ratio(time, total)}};
  }
  return json;
}

Json clocks_json(const JobAnalysis& job) {
  Json json = Json::array();
  for (const HostClock& host : job.clocks.hosts) {
    Json ranks = Json::array();
    for (std::uint32_t r : host.ranks) ranks.push_back(job.ranks[r].identity.rank);
    json.push_back({{"host", to_valid_utf8(host.host)},
                    {"ranks", ranks},
                    {"aligned", host.aligned},
                    {"offset_ns", static_cast<std::int64_t>(host.offset_ns)},
                    {"drift_ppm", host.drift * 1e6},
                    {"residual_ns", host.residual.ns},
                    {"collectives", host.points},
                    {"why_not", host.why_not}});
  }
  return json;
}

}  // namespace

void add_ranks(Json& json, const trace::Trace& trace, const Analysis& analysis) {
  json["ranks"] = to_json(rank_table(trace, analysis))["rows"];
  if (!analysis.job) {
    std::int32_t rank = ranks_in(trace, 0).front().identity.rank;
    for (const char* section : {"device_view", "partition"}) {
      for (Json& device : json[section]) device["rank"] = rank;
    }
    return;
  }
  const JobAnalysis& job = *analysis.job;
  json["clocks"] = clocks_json(job);
  json["critical_rank"] = job.ranks[job.critical].identity.rank;
  json["imbalance"] = {{"steps", job.imbalance.steps},
                       {"mean_compute_ns", job.imbalance.mean_compute.ns},
                       {"excess_ns", job.imbalance.excess.ns},
                       {"slowest_rank", job.ranks[job.imbalance.slowest].identity.rank},
                       {"work_correlation", job.imbalance.work_correlation}};
  std::set<std::string> files;
  std::int64_t matched = 0;
  std::int64_t unmatched = 0;
  json["device_view"] = Json::array();
  json["partition"] = Json::array();
  for (const RankSummary& rank : job.ranks) {
    files.insert(to_valid_utf8(rank.file));
    for (const RankDevice& device : rank.devices) {
      if (!device.on_host) json["device_view"].push_back(view_json(rank, device));
      if (!device.steps.empty()) json["partition"].push_back(partition_json(rank, device));
    }
  }
  for (const MatchedGroup& group : job.matching.groups) {
    matched += group.matched;
    unmatched += group.unmatched;
  }
  json["trace"]["files"] = files;
  json["trace"]["ranks"] = job.ranks.size();
  json["trace"]["world_size"] = job.world_size;
  json["matching"] = {{"matched", matched}, {"unmatched", unmatched}};
}

}  // namespace headway::analyzer
