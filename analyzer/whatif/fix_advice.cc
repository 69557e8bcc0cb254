// SPDX-License-Identifier: MIT
#include "analyzer/whatif/fix_advice.h"

#include <algorithm>
#include <array>
#include <string>

namespace headway::analyzer {
namespace {

/// The call or setting that makes a fix. "{--switch}" stands for the value that the reference trainer's switch would have.
struct Knob {
  std::string_view fix;
  std::string_view framework;
  std::string_view knob;
};

constexpr std::string_view kTorch = "PyTorch";
constexpr std::string_view kFlow = "TensorFlow/JAX";

constexpr auto kKnobs = std::to_array<Knob>({
    {"more-workers", kTorch,
     "DataLoader(num_workers={--workers}, persistent_workers=True, prefetch_factor=4)"},
    {"more-workers", kFlow,
     "dataset.map(…, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)"},
    {"use-workers", kTorch,
     "DataLoader(num_workers={--workers}, persistent_workers=True, pin_memory=True), or a thread "
     "that prepares the next input"},
    {"use-workers", kFlow,
     "dataset.map(…, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)"},
    {"evaluate-less-often", kTorch,
     "the program's own interval; trainers: eval_steps, val_check_interval, limit_val_batches"},
    {"evaluate-less-often", kFlow, "model.fit(validation_freq=n, validation_steps=m)"},
    {"asynchronous-checkpoint", kTorch, "torch.distributed.checkpoint.async_save(…)"},
    {"asynchronous-checkpoint", kFlow, "orbax.checkpoint.AsyncCheckpointer"},
    {"checkpoint-less-often", kTorch, "the program's own interval; trainers: save_steps"},
    {"checkpoint-less-often", kFlow, "CheckpointManagerOptions(save_interval_steps=n)"},
    {"log-less-often", kTorch,
     "the program's own interval; trainers: logging_steps, log_every_n_steps"},
    {"log-less-often", kFlow, "TensorBoard(update_freq=n, histogram_freq=0)"},
    {"no-garbage-collection", kTorch,
     "gc.freeze() after setting up; gc.disable() with gc.collect() every n steps"},
    {"no-garbage-collection", kFlow, "gc.freeze(), gc.disable() with gc.collect() every n steps"},
    {"keep-freed-memory", kTorch,
     "MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_MAX_=0 in the program's environment"},
    {"keep-freed-memory", kFlow,
     "MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_MAX_=0 in the program's environment"},
    {"split-k", kTorch, "torch.compile(model, mode='max-autotune'); torch.cuda.tunable.enable()"},
    {"split-k", kFlow, "XLA_FLAGS=--xla_gpu_autotune_level=4"},
    {"no-pauses", kTorch,
     "torch.profiler.record_function(…) around what the loop does between steps; py-spy record; "
     "gc.freeze()"},
    {"no-pauses", kFlow, "jax.profiler.TraceAnnotation around what the loop does between steps"},
    {"free-host", kTorch, "torch.compile(…), tensors on device='cuda', logging every n steps"},
    {"free-host", kFlow, "jax.jit over the whole step, tf.function"},
    {"fewer-workers", kTorch, "DataLoader(num_workers={--workers}), torch.set_num_threads(…)"},
    {"fewer-workers", kFlow, "tf.data.Options().threading.private_threadpool_size = …"},
    {"no-workers", kTorch, "DataLoader(num_workers=0)"},
    {"deeper-prefetch", kTorch, "DataLoader(prefetch_factor=…)"},
    {"deeper-prefetch", kFlow, "dataset.prefetch(…)"},
    {"persistent-workers", kTorch, "DataLoader(persistent_workers=True)"},
    {"persistent-workers", kFlow, "dataset.repeat() instead of an iterator for each epoch"},
    {"decode-offline", kTorch, "store decoded samples as arrays; webdataset.WebDataset(…)"},
    {"decode-offline", kFlow, "dataset.map(decode).save(…)"},
    {"tensor-collate", kTorch,
     "torch.utils.data.default_collate, or torch.stack() of tensors instead of lists of numbers"},
    {"samples-in-memory", kTorch,
     "keep what __getitem__ returns in a list; torch.utils.data.TensorDataset"},
    {"samples-in-memory", kFlow, "dataset.cache()"},
    {"augment-on-device", kTorch, "nvidia.dali, or torchvision.transforms.v2 on device tensors"},
    {"augment-on-device", kFlow, "tf.keras preprocessing layers inside the model"},
    {"pack-files", kTorch, "webdataset.WebDataset(…) instead of ImageFolder"},
    {"pack-files", kFlow, "tf.data.TFRecordDataset(…)"},
    {"overlap-copies", kTorch,
     "DataLoader(pin_memory=True), tensor.to(device, non_blocking=True) on its own stream"},
    {"overlap-copies", kFlow,
     "tf.data.experimental.prefetch_to_device(…), flax.jax_utils.prefetch_to_device(…)"},
    {"pinned-copies", kTorch, "DataLoader(pin_memory=True), tensor.pin_memory()"},
    {"remove-syncs", kTorch, "torch.cuda.set_sync_debug_mode('warn') finds the calls"},
    {"remove-syncs", kFlow, "no .numpy() and no block_until_ready() inside the step"},
    {"deferred-read", kTorch, "loss.detach() instead of loss.item(), read every n steps"},
    {"deferred-read", kFlow, "read metrics every n steps"},
    {"run-ahead", kTorch, "stream.wait_event(event) instead of event.synchronize()"},
    {"cuda-graph", kTorch,
     "torch.cuda.make_graphed_callables(…) or torch.compile(model, mode='reduce-overhead')"},
    {"cuda-graph", kFlow, "tf.function(jit_compile=True), jax.jit over the whole step"},
    {"fuse-chains", kTorch, "torch.compile(model)"},
    {"fuse-chains", kFlow, "tf.function(jit_compile=True)"},
    {"multi-tensor-optimizer", kTorch, "torch.optim.AdamW(…, fused=True)"},
    {"fused-update", kTorch,
     "torch.optim.AdamW(…, fused=True); Adam, SGD and Adagrad have it, too"},
    {"multi-tensor-optimizer", kFlow, "optax.flatten(optimizer), tf.function(jit_compile=True)"},
    {"tensor-cores", kTorch,
     "torch.set_float32_matmul_precision('high'), torch.autocast('cuda', dtype=torch.bfloat16)"},
    {"tensor-cores", kFlow,
     "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16'), jax_default_matmul_precision"},
    {"half-precision", kTorch, "torch.autocast('cuda', dtype=torch.bfloat16)"},
    {"half-precision", kFlow,
     "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16'); in flax dtype=jnp.bfloat16"},
    {"infer-in-16-bits", kTorch,
     "model.half() or model.to(torch.bfloat16) under torch.inference_mode()"},
    {"infer-in-16-bits", kFlow,
     "TrtGraphConverterV2(precision_mode='FP16'); parameters in bfloat16"},
    {"infer-in-int8", kTorch,
     "torch_tensorrt.compile(…, enabled_precisions={torch.int8, torch.half}) after "
     "modelopt.torch.quantization.quantize(…); "
     "torchao.quantize_(model, …)"},
    {"infer-in-int8", kFlow,
     "TrtGraphConverterV2(precision_mode='INT8', use_calibration=True); aqt for JAX"},
    {"inference-engine", kTorch, "torch_tensorrt.compile(…); torch.compile(…) with freezing"},
    {"inference-engine", kFlow, "TrtGraphConverterV2(…), jax.jit over the frozen model"},
    {"pad-shapes", kTorch,
     "model.resize_token_embeddings(n, pad_to_multiple_of=64); features a multiple of 64"},
    {"pad-shapes", kFlow, "vocabulary and features padded to a multiple of 64"},
    {"half-throughout", kTorch, "model.to(torch.bfloat16) instead of autocast"},
    {"half-throughout", kFlow, "parameters and activations in bfloat16"},
    {"no-loss-scaling", kTorch,
     "torch.autocast('cuda', dtype=torch.bfloat16), without a GradScaler"},
    {"no-loss-scaling", kFlow, "mixed_precision.set_global_policy('mixed_bfloat16')"},
    {"no-layout-changes", kTorch, "model.to(memory_format=torch.channels_last)"},
    {"no-layout-changes", kFlow, "data_format='channels_last'"},
    {"leave-mixed-precision", kTorch,
     "no autocast and no GradScaler; torch.backends.cuda.matmul.allow_tf32 = True"},
    {"leave-mixed-precision", kFlow, "keras.mixed_precision.set_global_policy('float32')"},
    {"no-casts", kTorch, "model.to(torch.bfloat16), or autocast around larger regions"},
    {"no-casts", kFlow, "parameters and activations in one type"},
    {"caching-allocator", kTorch, "no torch.cuda.empty_cache() in the step; the caching allocator"},
    {"caching-allocator", kFlow,
     "TF_GPU_ALLOCATOR=cuda_malloc_async, XLA_PYTHON_CLIENT_PREALLOCATE=true"},
    {"batch-samples", kTorch, "torch.vmap(…), or one padded tensor for all samples"},
    {"batch-samples", kFlow, "jax.vmap(…), tf.vectorized_map(…)"},
    {"stay-on-device", kTorch, "build indexes and masks as device tensors"},
    {"stay-on-device", kFlow, "build indexes and masks inside the compiled step"},
    {"larger-batch", kTorch, "DataLoader(batch_size=…)"},
    {"larger-batch", kFlow, "dataset.batch(…)"},
    {"eager-loading", kTorch, "CUDA_MODULE_LOADING=EAGER; warm up with all shapes"},
    {"eager-loading", kFlow, "CUDA_MODULE_LOADING=EAGER; warm up with all shapes"},
    {"overlap-communication", kTorch,
     "torch.nn.parallel.DistributedDataParallel(model) without delayed all-reduces"},
    {"overlap-communication", kFlow,
     "horovod.DistributedOptimizer(…), --xla_gpu_enable_latency_hiding_scheduler=true"},
    {"exchange-once", kTorch,
     "with model.no_sync(): for all batches of a step but the last (DistributedDataParallel)"},
    {"exchange-once", kFlow, "horovod.DistributedOptimizer(…, backward_passes_per_step=…)"},
    {"more-micro-batches", kTorch,
     "torch.distributed.pipelining: Schedule1F1B(stage, n_microbatches=…); Megatron: "
     "--micro-batch-size"},
    {"fewer-micro-batches", kTorch,
     "torch.distributed.pipelining: Schedule1F1B(stage, n_microbatches=…); Megatron: "
     "--micro-batch-size"},
    {"keep-activations", kTorch,
     "torch.utils.checkpoint.checkpoint(…) around fewer blocks, or "
     "create_selective_checkpoint_contexts(…); gradient_checkpointing_disable()"},
    {"keep-activations", kFlow,
     "jax.checkpoint(policy=…) that saves more, or none; tf.recompute_grad off"},
    {"keep-keys-and-values", kTorch, "model.generate(use_cache=True), past_key_values"},
    {"keep-keys-and-values", kFlow, "a cache of fixed length as a carried value"},
    {"less-padding", kTorch,
     "transformers: TrainingArguments(group_by_length=True), DataCollatorWithFlattening(); a "
     "batch_sampler by length"},
    {"less-padding", kFlow, "dataset.bucket_by_sequence_length(…); packed examples"},
    {"prefetch-all-gathers", kTorch,
     "FSDP(…, backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True)"},
    {"prefetch-all-gathers", kFlow,
     "--xla_gpu_enable_latency_hiding_scheduler=true --xla_gpu_enable_pipelined_all_gather=true"},
    {"larger-buckets", kTorch, "DistributedDataParallel(bucket_cap_mb={--bucket-mb})"},
    {"smaller-buckets", kTorch, "DistributedDataParallel(bucket_cap_mb={--bucket-mb})"},
    {"smaller-buckets", kFlow,
     "HOROVOD_FUSION_THRESHOLD=…, --xla_gpu_all_reduce_combine_threshold_bytes=…"},
    {"larger-buckets", kFlow,
     "HOROVOD_FUSION_THRESHOLD=…, --xla_gpu_all_reduce_combine_threshold_bytes=…"},
    {"compress-gradients", kTorch, "ddp.register_comm_hook(state, bf16_compress_hook)"},
    {"sum-in-16-bits", kTorch, "ddp.register_comm_hook(state, fp16_compress_hook)"},
    {"sum-in-16-bits", kFlow, "horovod.DistributedOptimizer(…, compression=Compression.fp16)"},
    {"compress-gradients", kFlow, "horovod.DistributedOptimizer(…, compression=Compression.fp16)"},
    {"hierarchical-allreduce", kTorch,
     "NCCL_ALGO=Tree, NCCL_CROSS_NIC=0; NCCL_DEBUG=INFO shows it"},
    {"hierarchical-allreduce", kFlow, "HOROVOD_HIERARCHICAL_ALLREDUCE=1"},
    {"flat-allreduce", kTorch, "DistributedDataParallel over one process group of all ranks"},
    {"flat-allreduce", kFlow, "HOROVOD_HIERARCHICAL_ALLREDUCE=0"},
    {"all-reduce-instead-of-parameter-server", kTorch,
     "torch.nn.parallel.DistributedDataParallel(model) over NCCL"},
    {"all-reduce-instead-of-parameter-server", kFlow,
     "tf.distribute.MultiWorkerMirroredStrategy(), hvd.DistributedOptimizer(…)"},
    {"persistent-rnn", kTorch, "torch.nn.LSTM or GRU over whole sequences, not cells"},
    {"persistent-rnn", kFlow, "tf.keras.layers.LSTM with cuDNN's requirements"},
    {"fused-attention", kTorch, "torch.nn.functional.scaled_dot_product_attention(…)"},
    {"fused-attention", kFlow, "jax.nn.dot_product_attention(…, implementation='cudnn')"},
    {"faster-gradients", kTorch, "torch.backends.cudnn.benchmark = True"},
    {"faster-gradients", kFlow, "TF_CUDNN_USE_AUTOTUNE=1"},
});

/// The value of a switch in "--workers 4 --prefetch 5"; "…" if it has none.
std::string_view value_in(std::string_view setting, std::string_view name) {
  for (std::size_t at = setting.find(name); at != std::string_view::npos;
       at = setting.find(name, at + 1)) {
    std::string_view rest = setting.substr(at + name.size());
    if (!rest.starts_with(' ')) continue;
    rest.remove_prefix(1);
    return rest.substr(0, rest.find_first_of(" ,"));
  }
  return "…";
}

std::string filled(std::string_view knob, std::string_view setting) {
  std::string text;
  for (std::size_t open; (open = knob.find("{--")) != std::string_view::npos;) {
    const std::size_t close = knob.find('}', open);
    text += knob.substr(0, open);
    text += value_in(setting, knob.substr(open + 1, close - open - 1));
    knob.remove_prefix(close + 1);
  }
  return text.append(knob);
}

}  // namespace

std::vector<Advice> advice_for(const Fix& fix, std::string_view setting) {
  std::vector<Advice> advice;
  const std::string text = std::string(fix.title) + ".";
  if (!setting.empty()) advice.push_back({"headway-train", text, std::string(setting), "", fix.id});
  for (const Knob& one : kKnobs)
    if (one.fix == fix.id)
      advice.push_back({std::string(one.framework), text, filled(one.knob, setting), "", fix.id});
  return advice;
}

}  // namespace headway::analyzer
