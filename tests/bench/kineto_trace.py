#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace as PyTorch's profiler (Kineto) does: steps of 1,000 launches, with an op, a launch, a kernel and two flow events for
each. Usage: kineto_trace.py RECORDS FILE.json   (262 bytes a record; the same for the same number, on every machine)"""
import sys

LAUNCHES = 1000  # of a step
STEP_US = 12_000
KERNELS = ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
           "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, at::detail::Array<char*, 3> >"
           "(int, at::native::CUDAFunctor_add<c10::Half>, at::detail::Array<char*, 3>)",
           "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1, true>(cudnnTensorStruct, float const*)",
           "multi_tensor_apply_kernel")
OPS = ("aten::addmm", "aten::add_", "aten::cudnn_batch_norm", "aten::_foreach_add_")

HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85198045184, "computeMajor": 8, "computeMinor": 0, "numSms": 108}
  ],
  "traceEvents": ["""
STEP = """
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 77, "tid": 77, "ts": %d, "dur": %d,
    "args": {"External id": %d}
  },"""
LAUNCH = """
  {
    "ph": "X", "cat": "cpu_op", "name": "%(op)s", "pid": 77, "tid": 77, "ts": %(at)d.125, "dur": 9.5,
    "args": {
      "External id": %(id)d, "Record function id": 0, "Sequence number": %(id)d, "Fwd thread id": 0, "Ev Idx": %(id)d,
      "Input Dims": [[64, 1024], [1024, 1024], []], "Input type": ["c10::Half", "c10::Half", "Scalar"]
    }
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 77, "tid": 77, "ts": %(call)d.5, "dur": 3.25,
    "args": {
      "External id": %(id)d, "cbid": 211, "correlation": %(id)d
    }
  },
  {
    "ph": "s", "id": %(id)d, "pid": 77, "tid": 77, "ts": %(call)d.5, "cat": "ac2g", "name": "ac2g"
  },
  {
    "ph": "X", "cat": "kernel", "name": "%(kernel)s", "pid": 0, "tid": 7, "ts": %(runs)d.75, "dur": %(takes)d.125,
    "args": {
      "External id": %(id)d, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %(id)d,
      "registers per thread": 32, "shared memory": 16384, "blocks per SM": 7.407407, "warps per SM": 59.259258,
      "grid": [%(grid)d, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %%": 87
    }
  },
  {
    "ph": "f", "id": %(id)d, "pid": 0, "tid": 7, "ts": %(runs)d.75, "cat": "ac2g", "name": "ac2g", "bp": "e"
  },"""


def write(records, out):
    out.write(HEAD)
    step, count, begin, number = 0, 0, 1_000_000_000, 1
    while count < records:
        out.write(STEP % (step, begin, STEP_US - 10, number))
        number += 1
        count += 1
        for i in range(LAUNCHES):
            if count >= records:
                break
            at = begin + 11 * i + 5
            what = (i * 7 + i // 13) % len(OPS)
            out.write(LAUNCH % {"op": OPS[what], "kernel": KERNELS[what], "id": number, "at": at, "call": at + 4, "runs": at + 14,
                                "takes": 3 + what * 2, "grid": 80 * (1 + i % 9)})
            number += 1
            count += 5
        begin += STEP_US
        step += 1
    out.write("""
  {
    "ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": %d
  }
  ]
}
""" % begin)


def main():
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    with open(sys.argv[2], "w", buffering=1 << 20) as out:
        write(int(sys.argv[1]), out)


if __name__ == "__main__":
    main()
