// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/whatif/fix.h"

// Each is defined in the file of its name; registry.cc lists them.
namespace headway::analyzer {

extern const Fix kAsynchronousCheckpoint;
extern const Fix kAugmentOnDevice;
extern const Fix kAverageEvery2Steps;
extern const Fix kAverageEvery4Steps;
extern const Fix kAverageEvery8Steps;
extern const Fix kBatchSamples;
extern const Fix kCachingAllocator;
extern const Fix kCheckpointLessOften;
extern const Fix kCompressGradients;
extern const Fix kCompressTo8Bits;
extern const Fix kCudaGraph;
extern const Fix kDecodeOffline;
extern const Fix kDeeperPrefetch;
extern const Fix kDeferredRead;
extern const Fix kEagerLoading;
extern const Fix kEvaluateLessOften;
extern const Fix kEvenExperts;
extern const Fix kEvenRanks;
extern const Fix kExchangeOnce;
extern const Fix kFasterGradients;
extern const Fix kFewerWorkers;
extern const Fix kFlatAllReduce;
extern const Fix kFreeHost;
extern const Fix kFreeInput;
extern const Fix kFullClock;
extern const Fix kFuseChains;
extern const Fix kFusedAttention;
extern const Fix kGradientsAsSigns;
extern const Fix kHalfPrecision;
extern const Fix kPadShapes;
extern const Fix kHalfThroughout;
extern const Fix kInferIn16Bits;
extern const Fix kInferInInt8;
extern const Fix kInferenceEngine;
extern const Fix kHierarchicalAllReduce;
extern const Fix kLargerBatch;
extern const Fix kLargerBuckets;
extern const Fix kKeepActivations;
extern const Fix kKeepKeysAndValues;
extern const Fix kLessPadding;
extern const Fix kLogLessOften;
extern const Fix kLowRankGradients;
extern const Fix kFewerMicroBatches;
extern const Fix kMoreMicroBatches;
extern const Fix kMoreWorkers;
extern const Fix kMultiTensorOptimizer;
extern const Fix kLeaveMixedPrecision;
extern const Fix kNoCasts;
extern const Fix kNoLossScaling;
extern const Fix kNoPauses;
extern const Fix kNoGarbageCollection;
extern const Fix kKeepFreedMemory;
extern const Fix kNoLayoutChanges;
extern const Fix kOverlapCommunication;
extern const Fix kOverlapCopies;
extern const Fix kPackFiles;
extern const Fix kPersistentRnn;
extern const Fix kPersistentWorkers;
extern const Fix kPinnedCopies;
extern const Fix kPrefetchAllGathers;
extern const Fix kRemoveSyncs;
extern const Fix kRingAllReduce;
extern const Fix kRunAhead;
extern const Fix kSamplesInMemory;
extern const Fix kSendLargestGradients;
extern const Fix kSmallerBuckets;
extern const Fix kSplitK;
extern const Fix kStayOnDevice;
extern const Fix kSumIn16Bits;
extern const Fix kTensorCollate;
extern const Fix kTensorCores;
extern const Fix kUseWorkers;
extern const Fix kNoWorkers;
extern const Fix kUsualSteps;
extern const Fix kStepsAsAtFirst;
extern const Fix kFusedUpdate;

}  // namespace headway::analyzer
