// SPDX-License-Identifier: MIT
// NCCL's ranges, their payloads and its kernels -> Trace::collectives, ranks and world size.
#include "trace/load/nccl.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "trace/load/context.h"
#include "trace/load/foreign_values.h"
#include "trace/meta_keys.h"
#include "trace/tables/collective.h"
#include "trace/tables/nccl_op.h"

namespace headway::trace::load_detail {
namespace {

class NcclReader {
 public:
  explicit NcclReader(Context& context) : context_(context), trace_(context.trace) {
    auto found = std::find(trace_.domains.begin(), trace_.domains.end(), "NCCL");
    if (found != trace_.domains.end())
      domain_ = DomainId::from(static_cast<std::size_t>(found - trace_.domains.begin()));
    kernels_.resize(trace_.strings.size());
    for (std::uint32_t i = 0; i < kernels_.size(); ++i)
      kernels_[i] = parse_nccl_kernel(trace_.strings[StringId{i}]);
    carried_.resize(trace_.device_ops.size());
  }

  void read() {
    if (domain_.valid()) {
      read_payloads();
      read_ranges();
    }
    read_remaining_kernels();
    complete_from_profiler();
    const Trace& trace = trace_;
    auto start = [&trace](const Collective& c) {
      return c.op.valid() ? trace.device_ops.start[c.op.value] : trace.ranges.start[c.range.value];
    };
    std::stable_sort(trace_.collectives.begin(), trace_.collectives.end(),
                     [&](const Collective& a, const Collective& b) { return start(a) < start(b); });
  }

 private:
  struct Communicator {
    std::int64_t ranks = 0;
    std::int64_t rank = -1;
  };

  ProcessId process_of(RangeId range) const {
    return trace_.threads[trace_.ranges.thread[range.value].value].process;
  }

  /// Reads the payloads by range, and from those of the initialisation the communicators of each
  /// process.
  void read_payloads() {
    const RowMap& rows = context_.row_map(RowTable::kRange);
    for (const auto& [row, payload] : context_.nccl_payloads) {
      std::uint32_t range = rows.find(row);
      if (range == RowMap::kNone) continue;
      payloads_[range] = payload;
      if (payload.ranks <= 0 || payload.communicator == 0) continue;
      ProcessId process = process_of(RangeId{range});
      communicators_[{process, payload.communicator}] = {payload.ranks, payload.rank};
    }
    for (const auto& [key, communicator] : communicators_) {
      // The largest communicator of a process is taken as that of the whole run.
      Communicator& world = worlds_[key.first];
      if (communicator.ranks > world.ranks) world = communicator;
    }
    for (const auto& [process, world] : worlds_) {
      if (world.rank >= 0) trace_.processes[process.value].rank = rank_of(world.rank);
      trace_.world_size = std::max(trace_.world_size, ranks_of(world.ranks));
    }
  }

  void read_ranges() {
    const Ranges& ranges = trace_.ranges;
    for (std::uint32_t thread = 0; thread < trace_.threads.size(); ++thread) {
      pending_.clear();
      int group = 0;
      for (RangeId range : trace_.ranges_of_thread[ThreadId{thread}]) {
        if (ranges.domain[range.value] != domain_ || ranges.is(range, Ranges::kMark)) continue;
        std::string_view name = trace_.strings[ranges.name[range.value]];
        if (name == "ncclGroupStart") ++group;
        if (name == "ncclGroupEnd") {
          group = std::max(0, group - 1);
          std::vector<DeviceOpId> kernels = kernels_within(range);
          // The end of the outermost group launches; operations of an inner group stay pending.
          if (!kernels.empty() || group == 0) settle(kernels);
          continue;
        }
        std::string_view kind = nccl_kind(name);
        if (kind.empty()) continue;
        pending_.push_back(describe(range, kind));
        // Outside a group the call itself launches.
        std::vector<DeviceOpId> kernels = kernels_within(range);
        if (!kernels.empty()) settle(kernels);
      }
      settle({});
    }
  }

  Collective describe(RangeId range, std::string_view kind) {
    Collective collective;
    collective.range = range;
    collective.kind = trace_.strings.add(kind);
    collective.communicator = trace_.strings.add("");
    collective.dtype = collective.communicator;
    auto found = payloads_.find(range.value);
    if (found == payloads_.end()) return collective;
    const NcclPayload& payload = found->second;
    if (payload.communicator != 0) {
      collective.communicator = trace_.strings.add(
          fmt::format("0x{:016x}", static_cast<std::uint64_t>(payload.communicator)));
      auto known = communicators_.find({process_of(range), payload.communicator});
      if (known != communicators_.end()) collective.ranks = ranks_of(known->second.ranks);
    }
    collective.peer = small_id_of(payload.peer);
    bool per_rank = kind == "allgather" || kind == "reducescatter" || kind == "alltoall" ||
                    kind == "gather" || kind == "scatter";
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    bool sane = payload.bytes >= 0 && payload.bytes < kMost;
    if (sane && !per_rank) collective.bytes = payload.bytes;
    if (sane && per_rank && collective.ranks > 0 && payload.bytes < kMost / collective.ranks)
      collective.bytes = payload.bytes * collective.ranks;
    return collective;
  }

  bool is_kernel(DeviceOpId op) const {
    StringId name = trace_.device_ops.name[op.value];
    return name.value < kernels_.size() && !kernels_[name.value].kind.empty();
  }

  /// True for ops that may have done the work of an NCCL call: NCCL's kernels, and communication ops
  /// of devices without NCCL.
  bool may_carry(DeviceOpId op) const {
    return is_kernel(op) || trace_.device_ops.kind[op.value] == DeviceOpKind::kCommunication;
  }

  /// The ops for which may_carry() is true that the range's thread launched inside the range, each
  /// once.
  std::vector<DeviceOpId> kernels_within(RangeId range) {
    std::vector<DeviceOpId> found;
    Interval inside = trace_.ranges.interval(range);
    std::span<const CallId> calls = trace_.calls_of_thread[trace_.ranges.thread[range.value]];
    auto first =
        std::lower_bound(calls.begin(), calls.end(), inside.begin,
                         [&](CallId c, TimeNs t) { return trace_.calls.start[c.value] < t; });
    for (auto call = first; call != calls.end() && trace_.calls.start[call->value] < inside.end;
         ++call) {
      DeviceOpId op = trace_.calls.op[call->value];
      if (op.valid() && may_carry(op) && !carried_[op.value]) found.push_back(op);
    }
    return found;
  }

  /// Completes the pending operations: each gets the first kernel of its kind, else the first
  /// kernel. Without kernels only the host's side is known.
  void settle(const std::vector<DeviceOpId>& kernels) {
    for (Collective& collective : pending_) {
      if (!kernels.empty()) {
        collective.op = kernels.front();
        for (DeviceOpId op : kernels) {
          const NcclKernel& kernel = kernels_[trace_.device_ops.name[op.value].value];
          if (kernel.kind != trace_.strings[collective.kind]) continue;
          collective.op = op;
          collective.dtype = trace_.strings.add(kernel.dtype);
          break;
        }
        carried_[collective.op.value] = true;
      }
      trace_.collectives.push_back(collective);
    }
    pending_.clear();
  }

  /// Adds the kernels whose ranges were not recorded: their names give the kind.
  void read_remaining_kernels() {
    for (std::uint32_t i = 0; i < trace_.device_ops.size(); ++i) {
      if (carried_[i] || !is_kernel(DeviceOpId{i})) continue;
      const NcclKernel& kernel = kernels_[trace_.device_ops.name[i].value];
      Collective collective;
      collective.op = DeviceOpId{i};
      collective.kind = trace_.strings.add(kernel.kind);
      collective.communicator = trace_.strings.add("");
      collective.dtype = trace_.strings.add(kernel.dtype);
      if (trace_.device_ops.bytes[i] > 0) collective.bytes = trace_.device_ops.bytes[i];
      trace_.collectives.push_back(collective);
    }
  }

  /// Adds what NCCL told its profiler plugin: sequence number, type of the elements, size. The n-th
  /// operation of a function on a communicator belongs to its n-th range. Inside a group NCCL orders
  /// operations by size, so among the next few the one of the same size is taken.
  void complete_from_profiler() {
    struct Op {
      std::int64_t sequence;
      std::int64_t bytes;
      std::int32_t ranks;
      std::int32_t peer;
      std::string_view dtype;
      bool taken = false;
    };
    using Row = tables::NcclOp::Row;
    std::map<std::tuple<std::uint32_t, std::string, std::string>, std::vector<Op>> ops;
    sqlite::Select<tables::NcclOp, &Row::start, &Row::global_tid, &Row::function,
                   &Row::communicator, &Row::ranks, &Row::sequence, &Row::count, &Row::dtype,
                   &Row::peer>::run(context_.db, [&](std::int64_t, const Row& row) {
      std::string function =
          "nccl" + std::string(trace_.strings[context_.string(row.function.value)]);
      std::string_view kind = nccl_kind(function);
      if (kind.empty()) return;
      Op op{};
      op.sequence = id_of(row.sequence);
      op.ranks = ranks_of(row.ranks);
      op.peer = small_id_of(row.peer.value_or(-1));
      if (row.dtype) op.dtype = trace_.strings[context_.string(row.dtype->value)];
      op.bytes = bytes_of(row.count.value_or(0)) * nccl_type_bytes(op.dtype);
      ProcessId process = context_.process(row.global_tid & ~std::int64_t{0xffffff});
      ops[{process.value, std::string(trace_.strings[context_.string(row.communicator.value)]),
           std::string(kind)}]
          .push_back(op);
    });
    if (ops.empty()) return;
    std::map<std::tuple<std::uint32_t, std::string, std::string>, std::size_t> first;
    constexpr std::size_t kGroup = 64;
    for (Collective& collective : trace_.collectives) {
      if (!collective.range.valid()) continue;
      std::tuple key{process_of(collective.range).value,
                     std::string(trace_.strings[collective.communicator]),
                     std::string(trace_.strings[collective.kind])};
      auto found = ops.find(key);
      if (found == ops.end()) continue;
      std::vector<Op>& list = found->second;
      std::size_t& begin = first[key];
      while (begin < list.size() && list[begin].taken) ++begin;
      auto payload = payloads_.find(collective.range.value);
      std::int64_t bytes = payload == payloads_.end() ? -1 : payload->second.bytes;
      std::size_t chosen = begin;
      for (std::size_t i = begin; i < list.size() && i < begin + kGroup; ++i) {
        if (list[i].taken || list[i].bytes != bytes) continue;
        chosen = i;
        break;
      }
      if (chosen >= list.size()) continue;
      Op& op = list[chosen];
      op.taken = true;
      collective.sequence = op.sequence;
      if (collective.ranks == 0) collective.ranks = op.ranks;
      if (collective.peer < 0 && op.sequence == conventions::kAbsent) collective.peer = op.peer;
      if (!op.dtype.empty()) collective.dtype = trace_.strings.add(op.dtype);
    }
  }

  Context& context_;
  Trace& trace_;
  DomainId domain_;
  std::vector<NcclKernel> kernels_;  ///< by name
  std::vector<bool> carried_;        ///< device ops that have a collective
  std::vector<Collective> pending_;  ///< on the current thread: called, not yet launched
  std::unordered_map<std::uint32_t, NcclPayload> payloads_;  ///< by range
  std::map<std::pair<ProcessId, std::int64_t>, Communicator> communicators_;
  std::map<ProcessId, Communicator> worlds_;
};

/// The first of several environment variables that the recorded command had; nsys stores them in
/// META_DATA_CAPTURE as NAME="value".
std::optional<std::int32_t> captured_number(const Context& context,
                                            std::initializer_list<std::string_view> names) {
  if (context.db.columns_of("META_DATA_CAPTURE").size() < 2) return std::nullopt;
  for (std::string_view name : names) {
    sqlite::Statement statement = context.db.prepare(
        "SELECT substr(value, length(?1) + 3) FROM META_DATA_CAPTURE WHERE name LIKE "
        "'PROCESS\\_%:ENVIRONMENT\\_VARIABLE' ESCAPE '\\' AND value LIKE ?1 || '=\"%'");
    statement.bind(1, name);
    if (!statement.step()) continue;
    std::string_view text = statement.text(0);
    std::int32_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end != text.data() + text.size() && *end == '"' && value >= 0)
      return value;
  }
  return std::nullopt;
}

/// Finds the ranks in an export without an NCCL initialisation: from the environment of the command,
/// if that was one rank's; else, if each process has its own GPU, from the order of the GPUs.
void infer_ranks(Context& context) {
  Trace& trace = context.trace;
  std::map<ProcessId, std::int32_t> gpu;
  bool one_each = true;
  for (const Stream& stream : trace.streams) {
    if (trace.devices[stream.device.value].type != DeviceType::kCuda) continue;
    std::int32_t ordinal = trace.devices[stream.device.value].ordinal;
    auto [known, is_new] = gpu.try_emplace(stream.process, ordinal);
    one_each = one_each && (is_new || known->second == ordinal);
  }
  if (gpu.size() == 1) {
    auto rank = captured_number(
        context, {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"});
    auto world = captured_number(
        context, {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
    if (!rank || (world && *rank >= *world)) return;
    trace.processes[gpu.begin()->first.value].rank = *rank;
    if (world) trace.world_size = *world;
    return;
  }
  std::vector<std::pair<std::int32_t, ProcessId>> by_gpu;
  for (const auto& [process, ordinal] : gpu) by_gpu.emplace_back(ordinal, process);
  std::sort(by_gpu.begin(), by_gpu.end());
  for (std::size_t i = 1; i < by_gpu.size(); ++i)
    one_each = one_each && by_gpu[i].first != by_gpu[i - 1].first;
  if (!one_each) return;
  for (std::size_t i = 0; i < by_gpu.size(); ++i)
    trace.processes[by_gpu[i].second.value].rank = static_cast<std::int32_t>(i);
}

}  // namespace

void load_nccl(Context& context) {
  // A saved file has the collectives already, and lacks the table when there are none.
  if (context.db.has_table(tables::Collective::name) ||
      context.trace.meta.contains(meta::kSourceFile))
    return;
  NcclReader(context).read();
  bool ours = context.trace.meta.contains(meta::kSchemaVersionKey);
  if (!ours && context.trace.world_size == 0) infer_ranks(context);
}

}  // namespace headway::trace::load_detail
