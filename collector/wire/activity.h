// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/wire/layout.h"

/// Activity buffers: slots of the segment into which CUPTI itself writes its records, so that they
/// survive the process. A slot goes free -> held (CUPTI writes) -> ready (the recorder copies and
/// clears it) -> free. A slot that is held when its process dies is read up to its last record.
namespace headway::wire {

enum class SlotState : std::uint32_t { kFree = 0, kHeld = 1, kReady = 2 };

struct ActivitySlot {
  alignas(64) std::atomic<SlotState> state;  ///< claimed by compare-and-swap, from any thread
  std::uint32_t reserved;
  std::uint64_t valid_bytes;  ///< of a ready slot
  std::uint64_t order;        ///< of a ready slot: counts up in the order of publishing
};
static_assert(sizeof(ActivitySlot) == 64);

/// CUpti_ActivityKind, of the kinds that Headway reads. The numbers are CUPTI's ABI.
enum class ActivityKind : std::uint32_t {
  kInvalid = 0,
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,   ///< calls of the driver API (api_filter.h says which)
  kRuntime = 5,  ///< calls of the runtime API
  kDevice = 8,   ///< properties of a GPU; one record per device
  kContext = 9,
  kKernel = 10,       ///< CONCURRENT_KERNEL; KERNEL (3) would make kernels run one by one
  kOverhead = 17,     ///< time spent by CUPTI itself
  kEnvironment = 20,  ///< clocks, temperature, power
  kMemcpyPeer = 22,   ///< copies between two devices
  kCudaEvent = 36,    ///< cudaEventRecord
  kStream = 37,
  kSynchronization = 38,
  kMemory = 49,  ///< MEMORY2: separate records for allocations and releases
  kMemoryPool = 50,
  kGraphTrace = 51,  ///< a CUDA graph as one op
};
inline constexpr std::uint32_t kActivityKinds = 64;

/// In the segment from kActivityOffset on.
struct ActivityArea {
  /// Bytes from one record of a kind to the next in the process's own CUPTI: the size of a record
  /// differs between versions of CUPTI, its first fields do not. 0: this CUPTI has no such kind.
  std::atomic<std::uint16_t> stride[kActivityKinds];
  std::atomic<std::uint64_t> dropped;    ///< records for which CUPTI had no buffer, as it counts
  std::atomic<std::uint64_t> discarded;  ///< records in buffers for which no slot was free
  std::atomic<std::uint64_t> spent_ns;   ///< time of threads in the functions that CUPTI calls
  std::uint64_t reserved[5];
  ActivitySlot slots[kMaxActivitySlots];
};
static_assert(sizeof(ActivityArea) == 192 + 64 * kMaxActivitySlots);
static_assert(kActivityOffset + sizeof(ActivityArea) <= kControlOffset);

/// Layout of the part of the records that Headway reads. It is the same in CUPTI of CUDA 12 and 13;
/// later versions append fields.
namespace activity {

inline constexpr std::size_t kKind = 0;

/// A call of the CUDA API. Times here and below are CLOCK_REALTIME in ns; 0: CUPTI has no time.
struct Api {
  std::uint32_t kind;
  std::uint32_t cbid;  ///< number of the function; driver and runtime number theirs separately
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;       ///< pid
  std::uint32_t thread;        ///< the system's tid (Cupti::configure)
  std::uint32_t correlation;   ///< the same in the records of the work that the call launched
  std::uint32_t return_value;  ///< CUresult or cudaError_t; 0: success
};
static_assert(sizeof(Api) == 40);

/// A kernel that ran, as it was launched.
struct Kernel {
  std::uint32_t kind;
  std::uint8_t cache_config;          ///< two CUfunc_cache of 4 bits: requested, and used
  std::uint8_t shared_memory_config;  ///< size of a bank
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache_requested;
  std::uint32_t partitioned_cache_executed;
  std::uint64_t start;  ///< of the first block on the device
  std::uint64_t end;
  std::uint64_t completed;             ///< end of it and of the kernels it launched; 0: not known
  std::uint32_t device;                ///< CUDA's ordinal in this process
  std::uint32_t context;               ///< CUPTI's number
  std::uint32_t stream;                ///< CUPTI's number
  std::int32_t grid[3];                ///< x, y, z
  std::int32_t block[3];               ///< x, y, z
  std::int32_t static_shared_memory;   ///< bytes of a block
  std::int32_t dynamic_shared_memory;  ///< bytes of a block, given at launch
  std::uint32_t local_memory_per_thread;  ///< bytes: registers that were spilled, and arrays
  std::uint32_t local_memory_total;       ///< bytes that the driver reserved for it
  std::uint32_t correlation;              ///< of the call that launched it
  std::int64_t grid_id;
  std::uint64_t name;  ///< address of the text in the process, or its id (kRenamed)
  std::uint64_t reserved;
  std::uint64_t queued;      ///< when the command was queued; 0 without latency timestamps
  std::uint64_t submitted;   ///< when it was sent to the GPU; 0 likewise
  std::uint8_t launch_type;  ///< 0 regular, 1 cooperative
  std::uint8_t carveout_requested;
  std::uint8_t carveout;  ///< share of the first-level cache that was asked for as shared memory, %
  std::uint8_t padding;
  std::uint32_t shared_memory_executed;  ///< bytes that the driver set aside
  std::uint64_t graph_node;              ///< node of a CUDA graph; 0: launched on its own
  std::uint32_t shared_memory_limit;
  std::uint32_t graph;  ///< the graph of that node; 0: none
};
static_assert(offsetof(Kernel, name) == 104 && offsetof(Kernel, graph_node) == 144);

/// A copy within one device, or between it and the host.
struct Memcpy {
  std::uint32_t kind;
  /// CUpti_ActivityMemcpyKind: 1 to the device, 2 to the host, 8 on the device.
  std::uint8_t copy_kind;
  std::uint8_t source_kind;       ///< CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, 3 device
  std::uint8_t destination_kind;  ///< likewise
  std::uint8_t flags;             ///< 1: asynchronous
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  /// Correlation of the runtime call, when the copy was made by a driver call inside it.
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  std::uint64_t reserved;
  std::uint64_t graph_node;  ///< 0: not in a CUDA graph
};
static_assert(sizeof(Memcpy) == 72);

/// A copy between two devices. Codes as in Memcpy.
struct MemcpyPeer {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;  ///< where the copy ran
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t source_device;
  std::uint32_t source_context;
  std::uint32_t destination_device;
  std::uint32_t destination_context;
  std::uint32_t correlation;
  std::uint64_t reserved;
  std::uint64_t graph_node;
};
static_assert(sizeof(MemcpyPeer) == 80);

struct Memset {
  std::uint32_t kind;
  std::uint32_t value;  ///< that the memory was set to
  std::uint64_t bytes;  ///< how much was set
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;        ///< 1: asynchronous
  std::uint16_t memory_kind;  ///< CUpti_ActivityMemoryKind
  std::uint32_t padding;
  std::uint64_t reserved;
  std::uint64_t graph_node;
};
static_assert(sizeof(Memset) == 72);

/// A wait of the host, or of a stream for an event.
struct Synchronization {
  std::uint32_t kind;
  std::uint32_t type;  ///< 1 event, 2 stream waits for event, 3 stream, 4 context
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;      ///< 2^32 - 1: no stream
  std::uint32_t event;       ///< 2^32 - 1: no event
  std::uint64_t event_sync;  ///< since CUDA 12.9
};
static_assert(sizeof(Synchronization) == 48 && offsetof(Synchronization, event_sync) == 40);

/// cudaEventRecord: from here on the event stands for this point of the stream.
struct CudaEvent {
  std::uint32_t kind;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  std::uint32_t padding;
  std::uint32_t device;
  std::uint32_t padding2;
  std::uint64_t reserved;
  std::uint64_t device_timestamp;  ///< when the GPU reached it, where CUPTI was asked for that
  std::uint64_t event_sync;        ///< tells apart several records of one event; since CUDA 12.9
};
static_assert(sizeof(CudaEvent) == 56);

/// Time spent by CUPTI. The struct is packed in CUPTI: an object's ids take 12 bytes.
struct Overhead {
  std::uint32_t kind;
  /// CUpti_ActivityOverheadKind: compiler, buffer flush, instrumentation, ….
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;  ///< kind of object that `process` and `thread` identify
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t unused;
  std::uint64_t start;
  std::uint64_t end;
};
static_assert(sizeof(Overhead) == 40);

/// A launch of a CUDA graph as a whole, from its first node's start to its last one's end.
struct GraphTrace {
  std::uint32_t kind;
  std::uint32_t correlation;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t graph;  ///< CUDA's number of the executable graph
  std::uint32_t context;
  std::uint32_t stream;
};
static_assert(sizeof(GraphTrace) == 40);

/// Properties of a GPU: the same in every process that sees it, except for `id`.
struct Device {
  std::uint32_t kind;
  std::uint32_t flags;             ///< CUpti_ActivityFlag of devices
  std::uint64_t memory_bandwidth;  ///< in kB/s
  std::uint64_t memory_bytes;      ///< of the whole device
  std::uint32_t constant_memory;   ///< bytes
  std::uint32_t l2_bytes;
  std::uint32_t warp_threads;
  std::uint32_t core_clock;    ///< in kHz
  std::uint32_t copy_engines;  ///< number of copies that can run beside kernels
  std::uint32_t multiprocessors;
  std::uint32_t max_ipc;   ///< instructions per clock of a multiprocessor, at most
  std::uint32_t sm_warps;  ///< most that a multiprocessor holds; likewise the next three
  std::uint32_t sm_blocks;
  std::uint32_t sm_shared_memory;  ///< bytes
  std::uint32_t sm_registers;
  std::uint32_t block_registers;      ///< most that a block may have; likewise below
  std::uint32_t block_shared_memory;  ///< bytes
  std::uint32_t block_threads;
  std::uint32_t block_dim[3];
  std::uint32_t grid_dim[3];
  std::uint32_t capability_major;
  std::uint32_t capability_minor;
  std::uint32_t id;   ///< CUDA's ordinal in this process
  std::uint32_t ecc;  ///< 1: error correction is on
  std::uint8_t uuid[16];
  std::uint64_t name;  ///< address of the text in the process
};
static_assert(offsetof(Device, id) == 112 && offsetof(Device, name) == 136);

/// An allocation or a release of device or pinned memory, as the runtime or the driver made it.
struct Memory {
  std::uint32_t kind;
  std::uint32_t operation;    ///< 1 allocation, 2 release
  std::uint32_t memory_kind;  ///< CUpti_ActivityMemoryKind
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;  ///< of the allocation
  std::uint64_t timestamp;
  std::uint64_t pc;  ///< of the caller; not read
  std::uint32_t process;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t name;      ///< address of the variable's name; 0: no variable
  std::uint32_t is_async;  ///< 1: in the order of a stream, from a pool
  std::uint32_t padding;
  std::uint32_t pool_type;  ///< 1 of this process, 2 imported
  std::uint32_t padding2;
  std::uint64_t pool_address;
  std::uint64_t pool_threshold;  ///< bytes that the pool keeps when a stream is synchronised
  std::uint64_t pool_size;       ///< for an imported pool: the process
  std::uint64_t pool_used;       ///< bytes handed out
};
static_assert(offsetof(Memory, name) == 64 && sizeof(Memory) == 120);

/// The creation, trim or destruction of a pool of cudaMallocAsync. Sizes in bytes.
struct MemoryPool {
  std::uint32_t kind;
  std::uint32_t operation;  ///< 1 created, 2 destroyed, 3 trimmed
  std::uint32_t pool_type;  ///< 1 of this process, 2 imported
  std::uint32_t correlation;
  std::uint32_t process;
  std::uint32_t device;
  std::uint64_t min_bytes_to_keep;  ///< of a trim
  std::uint64_t address;
  std::uint64_t size;
  std::uint64_t release_threshold;  ///< bytes that the pool keeps when a stream is synchronised
  std::uint64_t timestamp;
  std::uint64_t used;  ///< bytes handed out
};
static_assert(sizeof(MemoryPool) == 72);

struct Environment {
  std::uint32_t kind;
  std::uint32_t device;
  std::uint64_t timestamp;
  std::uint32_t environment;  ///< EnvironmentKind
  /// Speed: MHz of multiprocessors and memory, PCIe generation and width, throttle reasons.
  /// Temperature: degrees Celsius. Power: mW, and its limit in mW.
  std::uint32_t data[5];
};
static_assert(sizeof(Environment) == 40);
enum class EnvironmentKind : std::uint32_t { kSpeed = 1, kTemperature = 2, kPower = 3 };

struct Context {
  std::uint32_t kind;
  std::uint32_t context;
  std::uint32_t device;       ///< CUDA's ordinal in this process
  std::uint16_t compute_api;  ///< CUpti_ActivityComputeApiKind; 1 is CUDA
  std::uint16_t null_stream;  ///< number of the context's default stream
};
static_assert(sizeof(Context) == 16);

struct Stream {
  std::uint32_t kind;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t priority;  ///< lower numbers come first
  std::uint32_t flag;      ///< CUpti_ActivityStreamFlag: default, non-blocking, …
  std::uint32_t correlation;
};
static_assert(sizeof(Stream) == 24);

/// From this bit on, the id of a name's address holds a number that changes when the address holds
/// another text than before. No address of a process uses these bits.
inline constexpr unsigned kRenamedShift = 48;

}  // namespace activity

/// kCallbackName: id of a CUDA API function.
constexpr std::uint64_t callback_id(bool driver, std::uint32_t cbid) {
  return std::uint64_t{driver} << 32 | cbid;
}

}  // namespace headway::wire
