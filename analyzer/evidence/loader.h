// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Totals of all reads of known size: read ranges, else the calls on files by threads that make
/// batches (`headway record --io`).
struct Reads {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  DurationNs time;
  double large_read_rate;  ///< bytes/s of the fastest read of at least 64 KiB; at least 100 MB/s

  bool files =
      false;  ///< `count` is the number of opened files, not of reads: a range may cover many files

  std::int64_t mean() const { return count ? bytes / count : 0; }
};
/// Counts reads that begin at or after `since`, like all functions below with this parameter
/// (Steps::warm_from: a page cache that has filled by then serves later reads).
Reads sum_reads(const trace::Trace& trace, TimeNs since = TimeNs::min());

/// Visits the same reads one by one, in the order of the trace. Opens among them have 0 bytes.
void for_each_read(const trace::Trace& trace, TimeNs since,
                   const std::function<void(trace::ThreadId, Interval, std::int64_t bytes)>& visit);

/// Opens or reads of one file, or of several of a folder, by a thread that has ranges of a loader.
struct FileCalls {
  trace::ThreadId thread;
  Interval time;
  DurationNs busy;  ///< time inside the calls
  std::int64_t bytes = 0;
  std::int64_t calls = 1;
  bool read = false;  ///< true: reads; false: opens
};
/// Visits all recorded opens and reads (`headway record --io`).
void for_each_call_on_file(const trace::Trace& trace, TimeNs since,
                           const std::function<void(const FileCalls&)>& visit);

/// True if calls on files return faster than any disk answers, so the files come from memory. False
/// if calls on files were not recorded.
bool reads_come_from_memory(const trace::Trace& trace, TimeNs since);

/// The PyTorch hook's range name for everything that a data set does for a batch: it reads, decodes
/// and transforms. Only inner ranges show how much of it is decoding.
inline constexpr std::string_view kWholeSamples = "samples";

/// A data set of known length and known batch size. Bytes are those of the finished samples, as
/// they reach the program.
struct DataSet {
  std::int64_t samples = 0;
  std::int64_t bytes = 0;
  std::int64_t batch = 0;  ///< samples of a batch
  std::int64_t batch_bytes = 0;
};
/// The data set of the program's first PyTorch loader; none if its length or its batches' size is
/// not known.
std::optional<DataSet> data_set(const trace::Trace& trace);
/// True if PyTorch's types show that its samples are in memory: a TensorDataset, a list, parts of
/// one.
bool is_in_memory(const trace::Trace& trace);
/// True if making its samples used the process's random number generators; none if not observed.
std::optional<bool> samples_are_random(const trace::Trace& trace);

/// Number of batches made ahead of the requested one, from the program's setting; 0 unknown.
std::int64_t batches_ahead(const trace::Trace& trace);

/// Number of tensors in a batch; 2 (inputs and targets) if not known.
std::int64_t tensors_of_batch(const trace::Trace& trace);

/// Total of a stage's ranges, without those named kWholeSamples.
struct StageTime {
  DurationNs time;
  std::int64_t ranges = 0;
};
StageTime time_of_stage(const trace::Trace& trace, trace::RangeKind stage);

/// True if the decode stage handles its bytes faster than any picture can be decoded: then samples
/// are stored as numbers and only copied.
bool samples_are_numbers(const trace::Trace& trace);

/// Number of batches whose making began at or after `since`.
std::int64_t batches_made(const trace::Trace& trace, TimeNs since = TimeNs::min());

/// What the loader's workers do during the steady steps, from the ranges of their stages.
struct LoaderWork {
  std::vector<trace::ThreadId> workers;  ///< threads that make batches, without training threads
  /// The largest number of them that lived at the same time. Each epoch may have started new ones.
  std::size_t at_once = 0;
  double making = 0;                ///< mean number of them that make a batch
  double computing = 0;             ///< mean number of them that decode, augment or collate
  DurationNs per_batch;             ///< mean time one worker takes for a batch; 0 unknown
  bool on_training_thread = false;  ///< batches are made by the training thread itself
};
LoaderWork loader_work(const RuleContext& context);

/// The largest number of these intervals that overlap at one time.
std::size_t most_at_once(std::span<const Interval> lives);

/// Number of the job's ranks in the trace, at least 1. Each trains and has a loader of its own.
std::int64_t trainers_in(const trace::Trace& trace);

/// Number of processors for these ranks: their part of the machine if it runs other ranks, too. 0
/// unknown.
std::int64_t processor_count(const trace::Trace& trace);

/// Mean number of processors that the series' process used in the window. If the process lived for
/// only a part of the window, its mean use is scaled to that part.
double processors_of(const trace::Trace& trace, const trace::CounterSeries& series,
                     Interval window);

/// Mean number of processors that these processes used. Nothing if one of them also trains, or if
/// most of their lifetime was not sampled.
std::optional<double> processors_taken(const trace::Trace& trace, const Steps& steps,
                                       std::set<trace::ProcessId> processes, Interval window);

/// Share of a processor, up to 1, that making a batch uses. It is measured if the processor time of
/// the workers' processes is sampled. Else computing uses a whole processor, and a read uses one
/// for the time that its bytes take in large pieces; for the rest it waits for the storage. A
/// quarter of a read of unknown size counts, because its thread mostly waits.
double share_of_making(const RuleContext& context);
/// The same if processor time is sampled, else nothing.
std::optional<double> sampled_share_of_making(const RuleContext& context);
/// Number of workers per loader that fit on the processors if each training thread occupies one
/// processor all the time; 0 unknown.
std::int64_t workers_that_fit(const RuleContext& context);
/// The same if workers make the batches. A training thread that waits for a batch uses no
/// processor, and it waits less with more workers.
struct WorkerRoom {
  std::int64_t workers = 0;  ///< of each loader; 0 unknown
  DurationNs step;           ///< least time of a step: all its compute, spread over all processors
};
/// `step`: its time without waits for batches. `making`: time to make all batches of a step on one
/// worker.
WorkerRoom room_for_workers(const RuleContext& context, DurationNs step, DurationNs making);
/// Number of workers that hide `making` (the time to make all batches of a step on one worker)
/// under steps of length `step`: a fifth more than the mean requires, because batches differ in
/// time.
std::int64_t workers_needed(DurationNs making, DurationNs step);

}  // namespace headway::analyzer
