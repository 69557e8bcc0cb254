// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/cuda_device.h"

#include <cstdlib>
#include <cstring>

#include "common/error.h"
#include "kernels/cuda/cudnn/library.h"
#include "kernels/cuda/driver/cublas_lt.h"
#include "kernels/stream_op/launch.h"
#include "reference_trainer/devices/cuda/compile.h"
#include "reference_trainer/devices/cuda/joined.h"

namespace headway::trainer {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t rounded(std::int64_t bytes) {
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  return (wanted + kAlignment - 1) / kAlignment * kAlignment;
}

bool on_device(MemoryView view) {
  return view.kind == MemoryKind::kDevice;
}
CUdeviceptr device_address(MemoryView view) {
  return reinterpret_cast<CUdeviceptr>(view.address);
}

/// Loads each part in turn; when one is missing, fails with advice.
CudaLibraries load(const CudaDeviceOptions& options, std::string& note) {
  constexpr const char* kElse = "or train on the processor with --device host";
  CudaLibraries libraries;
  std::string why;
  libraries.driver = cuda::load_driver(why);
  if (!libraries.driver)
    fail_input(
        "device cuda: {}. It needs an NVIDIA GPU and its driver on this machine (`nvidia-smi` "
        "shows "
        "both): run it there, {}.",
        why, kElse);
  try {
    int count = 0;
    HEADWAY_CU(*libraries.driver, cuDeviceGetCount, &count);
    libraries.context = std::make_unique<const cuda::Context>(
        *libraries.driver, options.place % count,
        options.spin ? CU_CTX_SCHED_SPIN : CU_CTX_SCHED_BLOCKING_SYNC);
    auto compiler =
        options.generate ? kernels::cuda::CodeCompiler::load(*libraries.context, why) : nullptr;
    if (options.generate && !compiler)
      note = fmt::format("elementwise ops are interpreted, not compiled: {}", why);
    libraries.kernels =
        std::make_unique<kernels::cuda::KernelLibrary>(*libraries.context, std::move(compiler));
    libraries.products = std::make_unique<const cuda::CublasLt>();
  } catch (const Error& error) {
    std::string text = error.what();
    if (text.ends_with('.')) text.pop_back();
    fail_input("device cuda: {}; {}.", text, kElse);
  }
  return libraries;
}

}  // namespace

CudaDevice::CudaDevice(const CudaDeviceOptions& options)
    : options_(options), libraries_(load(options, info_.note)) {
  info_.type = DeviceType::kCuda;
  info_.cores = libraries_.context->multiprocessors();
  info_.name = libraries_.context->name();
}

const cuda::Cudnn& CudaDevice::convolutions() {
  if (!libraries_.convolutions) libraries_.convolutions = std::make_unique<const cuda::Cudnn>();
  return *libraries_.convolutions;
}

/// A failure here follows an earlier one, and a destructor cannot report it. Streams must end
/// before the context.
CudaDevice::~CudaDevice() {
  driver().cuCtxSynchronize_();
  streams_.clear();
}

void CudaDevice::check_sticky() const {
  const std::scoped_lock lock(mutex_);
  if (!sticky_.empty()) fail_internal("{}", sticky_);
}

void CudaDevice::fail_work(const Error& error) {
  const std::scoped_lock lock(mutex_);
  if (sticky_.empty()) {
    sticky_ = error.what();
    if (unchecked_first_ && unchecked_first_ == unchecked_last_)
      sticky_ = fmt::format("Op '{}' failed on the GPU: {}", unchecked_first_->text, sticky_);
    else if (unchecked_first_)
      sticky_ = fmt::format(
          "An op from '{}' to '{}' failed on the GPU: {}. Run again with --sync op to learn which.",
          unchecked_first_->text, unchecked_last_->text, sticky_);
  }
  fail_internal("{}", sticky_);
}

template <class Call>
auto CudaDevice::checked(const Call& call) {
  check_sticky();
  libraries_.context->make_current_once();
  try {
    return call();
  } catch (const Error& error) {
    fail_work(error);
  }
}

StreamId CudaDevice::create_stream(const std::string& name) {
  const StreamId id = StreamId::from(streams_.size());
  streams_.push_back(std::make_unique<CudaStream>(driver(), name, options_.spin));
  return id;
}

CUdeviceptr CudaDevice::take(std::int64_t bytes) {
  CUdeviceptr address = 0;
  const CUresult result = driver().cuMemAlloc_(&address, rounded(bytes));
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    fail_internal(
        "Out of memory: the GPU has no {} bytes left ({} are free). Use a smaller --batch.", bytes,
        libraries_.context->free_bytes());
  checked([&] { driver().check(result, "cuMemAlloc"); });
  return address;
}

/// cuMemFree itself waits for the device. A failure here follows an earlier one.
void CudaDevice::give_back(CUdeviceptr memory) noexcept {
  driver().cuMemFree_(memory);
}

Memory CudaDevice::allocate(std::int64_t bytes, MemoryKind kind) {
  check_sticky();
  libraries_.context->make_current_once();
  if (on_device({nullptr, kind})) {
    const CUdeviceptr address = take(bytes);
    Memory memory(this, {reinterpret_cast<void*>(address), kind}, bytes);
    HEADWAY_CU(driver(), cuMemsetD8Async, address, 0, rounded(bytes), nullptr);
    HEADWAY_CU(driver(), cuStreamSynchronize, nullptr);
    return memory;
  }
  void* address = nullptr;
  if (kind == MemoryKind::kPinned)
    HEADWAY_CU(driver(), cuMemHostAlloc, &address, rounded(bytes), 0);
  else
    address = std::aligned_alloc(kAlignment, rounded(bytes));
  if (!address) fail_internal("Out of memory: the host has no {} bytes left.", bytes);
  std::memset(address, 0, rounded(bytes));
  return Memory(this, {address, kind}, bytes);
}

/// A failure here follows an earlier one and is ignored.
void CudaDevice::release(MemoryView memory, std::int64_t) noexcept {
  if (memory.kind == MemoryKind::kDevice) return give_back(device_address(memory));
  driver().cuCtxSynchronize_();
  if (memory.kind == MemoryKind::kPinned)
    driver().cuMemFreeHost_(memory.address);
  else
    std::free(memory.address);
}

void CudaDevice::launch(StreamId on, const Kernel& kernel, const LaunchArguments& arguments) {
  check_sticky();
  {
    const std::scoped_lock lock(mutex_);
    if (!unchecked_first_) unchecked_first_ = kernel.tag().name;
    unchecked_last_ = kernel.tag().name;
  }
  try {
    static_cast<const CudaKernel&>(kernel).send(stream(on).get(), arguments);
  } catch (const Error& error) {
    const std::scoped_lock lock(mutex_);
    sticky_ = fmt::format("Op '{}' could not be launched: {}", kernel.tag().text, error.what());
    fail_internal("{}", sticky_);
  }
}

/// The driver's asynchronous copies already follow the rules of device.h for pageable memory.
void CudaDevice::copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                      std::int64_t) {
  const auto size = static_cast<std::size_t>(bytes);
  const CUstream queue = stream(on).get();
  checked([&] {
    if (on_device(to) && on_device(from)) {
      HEADWAY_CU(driver(), cuMemcpyDtoDAsync, device_address(to), device_address(from), size,
                 queue);
    } else if (on_device(to)) {
      HEADWAY_CU(driver(), cuMemcpyHtoDAsync, device_address(to), from.address, size, queue);
    } else if (on_device(from)) {
      HEADWAY_CU(driver(), cuMemcpyDtoHAsync, to.address, device_address(from), size, queue);
    } else {
      stream(on).synchronize();
      std::memcpy(to.address, from.address, size);
    }
  });
}

void CudaDevice::copy_blocking(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                               std::int64_t batch) {
  copy(on, to, from, bytes, batch);
  synchronize(on);
}

Event CudaDevice::record(StreamId on) {
  return checked([&] {
    const std::uint64_t point = stream(on).record();
    return Event{on, point, point};
  });
}

void CudaDevice::wait(StreamId on, const Event& event) {
  if (event.sync_id == 0 || event.stream == on) return check_sticky();  // stream order is enough
  checked([&] { stream(event.stream).hold(stream(on).get(), event.sequence); });
}

bool CudaDevice::done(const Event& event) {
  return checked([&] { return event.sync_id == 0 || stream(event.stream).done(event.sequence); });
}

void CudaDevice::synchronize(const Event& event) {
  checked([&] {
    if (event.sync_id != 0) stream(event.stream).synchronize(event.sequence);
  });
  check_sticky();  // an error of a host function since then
}

void CudaDevice::synchronize(StreamId on) {
  checked([&] { stream(on).synchronize(); });
  check_sticky();
  all_done();
}

void CudaDevice::synchronize() {
  checked([&] { HEADWAY_CU(driver(), cuCtxSynchronize); });
  check_sticky();
  all_done();
}

void CudaDevice::fail(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  if (sticky_.empty()) sticky_ = why;
}

void CudaDevice::call(StreamId on, const std::function<void()>& function) {
  struct Call {
    CudaDevice& device;
    const std::function<void()>& function;
  };
  auto run = [](void* data) {
    const std::unique_ptr<const Call> call(static_cast<const Call*>(data));
    try {
      call->device.check_sticky();
      call->function();
    } catch (const std::exception& error) {
      call->device.fail(error.what());
    }
  };
  checked([&] {
    auto call = std::make_unique<Call>(Call{*this, function});
    HEADWAY_CU(driver(), cuLaunchHostFunc, stream(on).get(), run, call.get());
    static_cast<void>(call.release());  // its run deletes it
  });
}

std::unique_ptr<Kernel> CudaDevice::make_kernel(Kernel::Tag tag, const kernels::StreamOp& op) {
  auto kernel = std::make_unique<LaunchesKernel>(std::move(tag), kernels(), Vary{});
  kernel->add(kernels::cuda::launches(kernels().limits(), op));
  return kernel;
}

std::unique_ptr<Kernel> CudaDevice::join(StreamId on, Kernel::Tag tag,
                                         const std::vector<const Kernel*>& kernels,
                                         const LaunchArguments& sample) {
  if (!driver().graphs.complete)
    fail_usage(
        "cuda_graph: this driver (CUDA {}.{}) is too old for it; it needs that of CUDA 11.4. "
        "Update "
        "the driver, or leave --cuda-graph off.",
        driver().version / 1000, driver().version % 1000 / 10);
  return checked([&] {
    return std::make_unique<JoinedKernel>(std::move(tag), driver(), stream(on).get(), kernels,
                                          sample);
  });
}

std::unique_ptr<CompiledGraph> CudaDevice::compile(const Graph& graph,
                                                   const CompileOptions& options) {
  check_sticky();
  return std::make_unique<CudaGraph>(*this, graph, options);
}

std::unique_ptr<Device> open_cuda_device(const CudaDeviceOptions& options) {
  return std::make_unique<CudaDevice>(options);
}

}  // namespace headway::trainer
