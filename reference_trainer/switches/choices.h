// SPDX-License-Identifier: MIT
// Values of the switches that take a word from a list. They are declared here, below all code that
// obeys a switch, so that its parts need not depend on each other.
#pragma once

#include <cstdint>

namespace headway::trainer {

/// What the host does in the pauses that a run plants, as a range around them tells.
enum class PauseFor : std::uint8_t {
  kNothing,  ///< no range
  kEvaluation,
  kCheckpoint,
  kLogging,
  kGarbageCollection,
  kWorkerRestart,
  kMetrics,  ///< inside the step
};
enum class ModelKind : std::uint8_t { kResnet, kTransformer, kGnmt, kSsd };
enum class OptimizerChoice : std::uint8_t { kAuto, kSgd, kAdam, kLamb, kLars };
enum class DeviceKind : std::uint8_t { kHost, kSim, kCuda };
enum class CommKind : std::uint8_t { kAuto, kShm, kMpi, kNccl };
enum class DataKind : std::uint8_t {
  kAuto,
  kFashionMnist,
  kText,
  kGenerated,
  kPictures,
  kGeneratedPictures,
  kCoco
};
enum class Decode : std::uint8_t { kStep, kOffline, kDevice };
enum class SourceKind : std::uint8_t { kFiles, kShards, kMemory };
/// Kinds of storage that are emulated (data/storage_kinds.h).
enum class StorageKind : std::uint8_t { kMachine, kNvme, kNetworkDisk, kLustre, kObjectStore };
/// How a worker of the simulated device reads shards.
enum class ShardRead : std::uint8_t {
  kFile,    ///< a shard is read whole before its first sample is used
  kStream,  ///< samples are used as they arrive
};
enum class CopyMode : std::uint8_t { kBlocking, kAsync, kPrefetch };
enum class LossRead : std::uint8_t { kStep, kDeferred };
enum class GraphCompiler : std::uint8_t { kOn, kInterpreted, kOff };
enum class RunMode : std::uint8_t { kTrain, kInfer };
enum class Calibration : std::uint8_t { kMax, kEntropy, kPercentile };
enum class InferPrecision : std::uint8_t { kFp32, kTf32, kFp16, kBf16, kInt8 };
enum class PipelineSchedule : std::uint8_t { kOff, kGpipe, k1F1B };
enum class DeviceSchedule : std::uint8_t { kBlocking, kSpin };

/// How the optimizer's update of a parameter is cut into kernels.
enum class OptimizerFusion : std::uint8_t { kOff, kParameter, kMultiTensor };

/// Number formats of a training run.
enum class Precision : std::uint8_t {
  kFp32,
  kTf32,   ///< operands of matrix products are rounded to TF32; everything stays FP32 in memory
  kAmpO1,  ///< operands of matrix products are cast to FP16, the rest is FP32; loss scaling
  kAmpO2,  ///< all but normalisation and loss in FP16, master parameters in FP32; loss scaling
  kBf16,   ///< as O2 with BF16, whose range needs no loss scaling
};

/// Which anchors of a detector learn which box.
enum class Matching : std::uint8_t {
  kOverlap,  ///< those that overlap it most, as in SSD
  kSimota,   ///< those for which the model's predictions cost least, as in YOLOX
};

/// What makes the targets of the anchors.
enum class Assign : std::uint8_t {
  kLoader,     ///< the loader's workers encode them
  kBatched,    ///< the device matches all images of a batch together
  kPerSample,  ///< the device matches them one after the other
};

/// How sentences are grouped into batches.
enum class Balance : std::uint8_t {
  kSorted,  ///< those of about the same length: little padding
  kRandom,  ///< any: every batch is as long as its longest sentence
};

enum class Compression : std::uint8_t { kNone, kHalf, kInt8, kDgc, kPowerSgd, kOneBit };
enum class Topology : std::uint8_t { kFlat, kHierarchical, kParameterServer };

}  // namespace headway::trainer
