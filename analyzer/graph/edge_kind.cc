// SPDX-License-Identifier: MIT
#include "analyzer/graph/edge_kind.h"

#include <array>

namespace headway::analyzer {

std::span<const EdgeKindInfo, kEdgeKindCount> edge_kinds() {
  static constexpr std::array<EdgeKindInfo, kEdgeKindCount> kKinds = {{
      {EdgeKind::kDuration, "duration", "task", "A task ends after it starts."},
      {EdgeKind::kThreadOrder, "thread_order", "D1",
       "A host thread's next activity waits for its previous one; the time in between stays."},
      {EdgeKind::kThreadBlocked, "thread_blocked", "D1",
       "The same, where the thread slept until another thread handed back control."},
      {EdgeKind::kStreamOrder, "stream_order", "D2",
       "An op waits for the previous one on its stream."},
      {EdgeKind::kLaunch, "launch", "D3", "An op waits for the call that enqueued it."},
      {EdgeKind::kGraphLaunch, "graph_launch", "D8",
       "The first ops of a CUDA graph wait for the call that launched the graph."},
      {EdgeKind::kEventWait, "event_wait", "D4",
       "An op waits for an event: for the last op before the event was recorded."},
      {EdgeKind::kHostSync, "host_sync", "D5",
       "A blocking call returns after the ops it waits for."},
      {EdgeKind::kQueueFull, "queue_full", "D6",
       "A launch returns when the full launch queue has room."},
      {EdgeKind::kDefaultStream, "default_stream", "D7",
       "Work on the legacy default stream and on blocking streams waits for each other."},
      {EdgeKind::kDriverLock, "driver_lock", "D9",
       "Overlapping calls from several threads finish one after the other."},
      {EdgeKind::kBatch, "batch", "D10", "A batch wait ends after the batch was made."},
      {EdgeKind::kBatchSlot, "batch_slot", "D10",
       "A loader begins a batch when the queue of finished batches has room."},
      {EdgeKind::kHandOver, "hand_over", "D10",
       "A thread continues when its helper thread has finished, e.g. autograd's."},
      {EdgeKind::kRendezvous, "rendezvous", "D12",
       "A collective starts moving data when its last rank arrives."},
      {EdgeKind::kTransfer, "transfer", "D12",
       "A collective ends on each rank after its data has moved."},
      {EdgeKind::kCollectiveOrder, "collective_order", "D13",
       "Collectives on a communicator run in sequence-number order."},
  }};
  return kKinds;
}

const EdgeKindInfo& info(EdgeKind kind) {
  return edge_kinds()[static_cast<std::size_t>(kind)];
}

}  // namespace headway::analyzer
