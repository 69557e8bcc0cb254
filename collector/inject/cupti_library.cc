// SPDX-License-Identifier: MIT
// libcupti, found at run time.
#include <cupti.h>
#include <dlfcn.h>

#include <initializer_list>

#include "collector/inject/cupti.h"

namespace headway::inject {
namespace {

class CuptiLibrary final : public Cupti {
 public:
  const char* open() override {
    if (handle_) return nullptr;
    // One that is loaded already first: PyTorch's wheels bring their own, and a second copy in the
    // process would be a second owner.
    static constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    for (int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW}) {
      for (const char* name : kNames) {
        if (!handle_) handle_ = ::dlopen(name, flags);
      }
    }
    if (!handle_) return "libcupti was not found; set LD_LIBRARY_PATH to its folder";
    get_version_ = symbol<decltype(get_version_)>("cuptiGetVersion");
    subscribe_ = symbol<decltype(subscribe_)>("cuptiSubscribe");
    unsubscribe_ = symbol<decltype(unsubscribe_)>("cuptiUnsubscribe");
    result_text_ = symbol<decltype(result_text_)>("cuptiGetResultString");
    return subscribe_ && unsubscribe_ ? nullptr : "libcupti lacks cuptiSubscribe";
  }
  std::uint32_t version() override {
    std::uint32_t number = 0;
    return get_version_ && get_version_(&number) == CUPTI_SUCCESS ? number : 0;
  }
  int subscribe() override {
    auto nothing = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
    return subscribe_(&subscriber_, nothing, nullptr);
  }
  void unsubscribe() override { unsubscribe_(subscriber_); }
  const char* result_text(int result) override {
    const char* text = nullptr;
    if (result_text_) result_text_(static_cast<CUptiResult>(result), &text);
    return text;
  }

 private:
  template <class Function>
  Function symbol(const char* name) {
    return reinterpret_cast<Function>(::dlsym(handle_, name));
  }
  void* handle_ = nullptr;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  decltype(&cuptiGetVersion) get_version_ = nullptr;
  decltype(&cuptiSubscribe) subscribe_ = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe_ = nullptr;
  decltype(&cuptiGetResultString) result_text_ = nullptr;
};

constinit CuptiLibrary g_library{};

}  // namespace

Cupti& installed_cupti() {
  return g_library;
}

}  // namespace headway::inject
