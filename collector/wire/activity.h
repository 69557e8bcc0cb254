// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/wire/layout.h"

/// Activity buffers: slots of the segment that CUPTI itself writes its records into, so that they
/// survive the process. A slot goes free -> held (CUPTI writes) -> ready (the recorder copies and
/// clears it) -> free. What a slot holds when its process dies is read as far as it goes.
namespace headway::wire {

enum class SlotState : std::uint32_t { kFree = 0, kHeld = 1, kReady = 2 };

struct ActivitySlot {
  alignas(64) std::atomic<SlotState> state;
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
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kKernel = 10,  ///< CONCURRENT_KERNEL; KERNEL (3) would make kernels run one by one
  kOverhead = 17,
  kEnvironment = 20,
  kMemcpyPeer = 22,
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kMemory = 49,  ///< MEMORY2: allocations and releases apart
  kMemoryPool = 50,
  kGraphTrace = 51,
};
inline constexpr std::uint32_t kActivityKinds = 64;

/// In the segment from kActivityOffset on.
struct ActivityArea {
  /// Bytes from one record of a kind to the next, as the process's own CUPTI steps: the size of a
  /// record differs between versions of CUPTI, its first fields do not. 0: it knows no such kind.
  std::atomic<std::uint16_t> stride[kActivityKinds];
  std::atomic<std::uint64_t> dropped;    ///< records that CUPTI had no buffer for, by its own count
  std::atomic<std::uint64_t> discarded;  ///< records in buffers for which no slot was free
  std::atomic<std::uint64_t> spent_ns;   ///< on the program's threads, inside what CUPTI calls
  std::uint64_t reserved[5];
  ActivitySlot slots[kMaxActivitySlots];
};
static_assert(sizeof(ActivityArea) == 192 + 64 * kMaxActivitySlots);
static_assert(kActivityOffset + sizeof(ActivityArea) <= kControlOffset);

/// Layout of the records, as far as it is read. The same in CUPTI of CUDA 12 and 13; later versions
/// append.
namespace activity {

inline constexpr std::size_t kKind = 0;

struct Api {
  std::uint32_t kind;
  std::uint32_t cbid;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t correlation;
  std::uint32_t return_value;
};
static_assert(sizeof(Api) == 40);

struct Kernel {
  std::uint32_t kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache_requested;
  std::uint32_t partitioned_cache_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  std::uint64_t name;  ///< address of the text in the process, or its id (kRenamed)
  std::uint64_t reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout_requested;
  std::uint8_t carveout;
  std::uint8_t padding;
  std::uint32_t shared_memory_executed;
  std::uint64_t graph_node;
  std::uint32_t shared_memory_limit;
  std::uint32_t graph;
};
static_assert(offsetof(Kernel, name) == 104 && offsetof(Kernel, graph_node) == 144);

struct Memcpy {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  std::uint64_t reserved;
  std::uint64_t graph_node;
};
static_assert(sizeof(Memcpy) == 72);

struct MemcpyPeer {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
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
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;
  std::uint16_t memory_kind;
  std::uint32_t padding;
  std::uint64_t reserved;
  std::uint64_t graph_node;
};
static_assert(sizeof(Memset) == 72);

struct Synchronization {
  std::uint32_t kind;
  std::uint32_t type;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  std::uint64_t event_sync;  ///< since CUDA 12.9
};
static_assert(sizeof(Synchronization) == 48 && offsetof(Synchronization, event_sync) == 40);

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
  std::uint64_t device_timestamp;
  std::uint64_t event_sync;
};
static_assert(sizeof(CudaEvent) == 56);

/// Packed in CUPTI: an object's ids are 12 bytes.
struct Overhead {
  std::uint32_t kind;
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t unused;
  std::uint64_t start;
  std::uint64_t end;
};
static_assert(sizeof(Overhead) == 40);

struct GraphTrace {
  std::uint32_t kind;
  std::uint32_t correlation;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t graph;
  std::uint32_t context;
  std::uint32_t stream;
};
static_assert(sizeof(GraphTrace) == 40);

struct Device {
  std::uint32_t kind;
  std::uint32_t flags;
  std::uint64_t memory_bandwidth;  ///< in kB/s
  std::uint64_t memory_bytes;
  std::uint32_t constant_memory;
  std::uint32_t l2_bytes;
  std::uint32_t warp_threads;
  std::uint32_t core_clock;  ///< in kHz
  std::uint32_t copy_engines;
  std::uint32_t multiprocessors;
  std::uint32_t max_ipc;
  std::uint32_t sm_warps;
  std::uint32_t sm_blocks;
  std::uint32_t sm_shared_memory;
  std::uint32_t sm_registers;
  std::uint32_t block_registers;
  std::uint32_t block_shared_memory;
  std::uint32_t block_threads;
  std::uint32_t block_dim[3];
  std::uint32_t grid_dim[3];
  std::uint32_t capability_major;
  std::uint32_t capability_minor;
  std::uint32_t id;
  std::uint32_t ecc;
  std::uint8_t uuid[16];
  std::uint64_t name;
};
static_assert(offsetof(Device, id) == 112 && offsetof(Device, name) == 136);

struct Memory {
  std::uint32_t kind;
  std::uint32_t operation;  ///< 1 allocation, 2 release
  std::uint32_t memory_kind;
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t timestamp;
  std::uint64_t pc;
  std::uint32_t process;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint64_t name;
  std::uint32_t is_async;
  std::uint32_t padding;
  std::uint32_t pool_type;  ///< 1 of this process, 2 imported
  std::uint32_t padding2;
  std::uint64_t pool_address;
  std::uint64_t pool_threshold;
  std::uint64_t pool_size;  ///< of an imported one: the process
  std::uint64_t pool_used;
};
static_assert(offsetof(Memory, name) == 64 && sizeof(Memory) == 120);

struct MemoryPool {
  std::uint32_t kind;
  std::uint32_t operation;
  std::uint32_t pool_type;
  std::uint32_t correlation;
  std::uint32_t process;
  std::uint32_t device;
  std::uint64_t min_bytes_to_keep;
  std::uint64_t address;
  std::uint64_t size;
  std::uint64_t release_threshold;
  std::uint64_t timestamp;
  std::uint64_t used;
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
  std::uint32_t device;
  std::uint16_t compute_api;
  std::uint16_t null_stream;
};
static_assert(sizeof(Context) == 16);

struct Stream {
  std::uint32_t kind;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t priority;
  std::uint32_t flag;
  std::uint32_t correlation;
};
static_assert(sizeof(Stream) == 24);

/// A name's address that holds another text than before is told apart by a number in the bits that
/// no address of a process has.
inline constexpr unsigned kRenamedShift = 48;

}  // namespace activity

/// kCallbackName: id of a CUDA API function.
constexpr std::uint64_t callback_id(bool driver, std::uint32_t cbid) {
  return std::uint64_t{driver} << 32 | cbid;
}

}  // namespace headway::wire
