// SPDX-License-Identifier: MIT
#include "reference_trainer/data/storage_kinds.h"

namespace headway::trainer {

Storage::Speed speed_of(StorageKind kind) {
  using std::chrono::microseconds;
  switch (kind) {
    case StorageKind::kMachine:
      return {};
    case StorageKind::kNvme:
      // A data-centre drive (Intel DC P4510 2 TB, product brief): 77 us, 3.2 GB/s. Its queues are deeper than any loader's.
      return {microseconds(77), 3.2e9, 0, 64};
    case StorageKind::kNetworkDisk:
      // A general-purpose volume (Amazon EBS gp3, user guide): 125 MiB/s; "single-digit" milliseconds, of which 5 is the middle.
      return {microseconds(5000), 131e6, 0, 0};
    case StorageKind::kLustre:
      // 2.4 TiB at 500 MB/s per TiB (Amazon FSx for Lustre, user guide); "sub-millisecond" latency, of which 0.5 is the middle.
      return {microseconds(500), 1.2e9, 0, 0};
    case StorageKind::kObjectStore:
      // Amazon S3, performance guide: first byte after 100 to 200 ms, of which opening takes one half and reading the other; 85 to 90 MB/s for each request; 25 Gb/s into the machine.
      return {microseconds(75000), 3.125e9, 87.5e6, 0};
  }
  return {};
}

}  // namespace headway::trainer
