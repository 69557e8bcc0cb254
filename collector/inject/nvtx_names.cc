// SPDX-License-Identifier: MIT
// NVTX calls that register domains, strings, categories and thread names.
#include "collector/inject/definitions.h"
#include "collector/inject/nvtx_handlers.h"

namespace headway::inject {
namespace {

/// Domain index; does not count unknown handles, because registering is not an event.
std::uint16_t index_of(nvtxDomainHandle_t domain) {
  return domain_of(nullptr, domain);
}

nvtxDomainHandle_t create_domain(Text name) {
  Entry entry;
  std::uint32_t index = entry ? define_domain(name) : 0;
  // Null is the default domain, which takes the events when there is no room for another domain.
  return index ? make_handle<nvtxDomainHandle_t>(HandleKind::kDomain, index) : nullptr;
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, Text text) {
  Entry entry;
  std::uint32_t id = entry ? define_string(index_of(domain), text) : 0;
  return id ? make_handle<nvtxStringHandle_t>(HandleKind::kString, id) : nullptr;
}

void name_category(nvtxDomainHandle_t domain, std::uint32_t category, Text name) {
  Entry entry;
  // Category 0 means "none" in NVTX.
  if (entry && category != 0) define_category(index_of(domain), category, name);
}

void name_thread(std::uint64_t tid, Text name) {
  Entry entry;
  if (entry && tid != 0) define_thread_name(tid, name);
}

void on_name_category_a(std::uint32_t category, const char* name) {
  name_category(nullptr, category, {name, nullptr});
}
void on_name_category_w(std::uint32_t category, const wchar_t* name) {
  name_category(nullptr, category, {nullptr, name});
}
void on_name_thread_a(std::uint32_t tid, const char* name) {
  name_thread(tid, {name, nullptr});
}
void on_name_thread_w(std::uint32_t tid, const wchar_t* name) {
  name_thread(tid, {nullptr, name});
}
void on_domain_name_category_a(nvtxDomainHandle_t domain, std::uint32_t category,
                               const char* name) {
  name_category(domain, category, {name, nullptr});
}
void on_domain_name_category_w(nvtxDomainHandle_t domain, std::uint32_t category,
                               const wchar_t* name) {
  name_category(domain, category, {nullptr, name});
}
nvtxStringHandle_t on_register_string_a(nvtxDomainHandle_t domain, const char* text) {
  return register_string(domain, {text, nullptr});
}
nvtxStringHandle_t on_register_string_w(nvtxDomainHandle_t domain, const wchar_t* text) {
  return register_string(domain, {nullptr, text});
}
nvtxDomainHandle_t on_domain_create_a(const char* name) {
  return create_domain({name, nullptr});
}
nvtxDomainHandle_t on_domain_create_w(const wchar_t* name) {
  return create_domain({nullptr, name});
}

/// Only thread resources are stored in a trace.
nvtxResourceHandle_t on_resource_create(nvtxDomainHandle_t, nvtxResourceAttributes_t* resource) {
  if (resource && resource->size >= sizeof *resource &&
      resource->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE) {
    bool wide = resource->messageType == NVTX_MESSAGE_TYPE_UNICODE;
    bool narrow = resource->messageType == NVTX_MESSAGE_TYPE_ASCII;
    if (wide) name_thread(resource->identifier.ullValue, {nullptr, resource->message.unicode});
    if (narrow) name_thread(resource->identifier.ullValue, {resource->message.ascii, nullptr});
  }
  return make_handle<nvtxResourceHandle_t>(HandleKind::kResource, 1);
}

}  // namespace

void fill_name_slots(NvtxFunctionTable core, unsigned core_size, NvtxFunctionTable core2,
                     unsigned core2_size) {
  set_slot(core, core_size, NVTX_CBID_CORE_NameCategoryA, on_name_category_a);
  set_slot(core, core_size, NVTX_CBID_CORE_NameCategoryW, on_name_category_w);
  set_slot(core, core_size, NVTX_CBID_CORE_NameOsThreadA, on_name_thread_a);
  set_slot(core, core_size, NVTX_CBID_CORE_NameOsThreadW, on_name_thread_w);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainResourceCreate, on_resource_create);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainNameCategoryA, on_domain_name_category_a);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainNameCategoryW, on_domain_name_category_w);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainRegisterStringA, on_register_string_a);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainRegisterStringW, on_register_string_w);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainCreateA, on_domain_create_a);
  set_slot(core2, core2_size, NVTX_CBID_CORE2_DomainCreateW, on_domain_create_w);
}

}  // namespace headway::inject
