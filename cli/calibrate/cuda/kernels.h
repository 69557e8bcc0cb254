// SPDX-License-Identifier: MIT
#pragma once

namespace headway::calibrate {

/// Three kernels as PTX, which the driver compiles for the GPU at hand: `empty`; `spin(ns)` keeps
/// one thread busy for `ns`; `triad(a, b, c, s, n)` is a[i] = b[i] + s * c[i] over n groups of four
/// floats.
inline constexpr const char* kKernels = R"(
.version 6.4
.target sm_60
.address_size 64

.visible .entry empty()
{
  ret;
}

.visible .entry spin(.param .u64 spin_ns)
{
  .reg .pred %p;
  .reg .b64 %r<5>;
  ld.param.u64 %r1, [spin_ns];
  mov.u64 %r2, %globaltimer;
again:
  mov.u64 %r3, %globaltimer;
  sub.s64 %r4, %r3, %r2;
  setp.lt.u64 %p, %r4, %r1;
  @%p bra again;
  ret;
}

.visible .entry triad(.param .u64 out, .param .u64 first, .param .u64 second, .param .f32 scale, .param .u64 count)
{
  .reg .pred %p;
  .reg .b32 %t<4>;
  .reg .b64 %r<14>;
  .reg .f32 %f<14>;
  ld.param.u64 %r1, [out];
  ld.param.u64 %r2, [first];
  ld.param.u64 %r3, [second];
  ld.param.f32 %f1, [scale];
  ld.param.u64 %r4, [count];
  cvta.to.global.u64 %r1, %r1;
  cvta.to.global.u64 %r2, %r2;
  cvta.to.global.u64 %r3, %r3;
  mov.u32 %t1, %ctaid.x;
  mov.u32 %t2, %ntid.x;
  mov.u32 %t3, %tid.x;
  mul.wide.u32 %r5, %t1, %t2;
  cvt.u64.u32 %r6, %t3;
  add.s64 %r5, %r5, %r6;
  mov.u32 %t1, %nctaid.x;
  mul.wide.u32 %r7, %t1, %t2;
next:
  setp.ge.u64 %p, %r5, %r4;
  @%p bra done;
  shl.b64 %r8, %r5, 4;
  add.s64 %r9, %r2, %r8;
  add.s64 %r10, %r3, %r8;
  add.s64 %r11, %r1, %r8;
  ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%r9];
  ld.global.v4.f32 {%f6, %f7, %f8, %f9}, [%r10];
  fma.rn.f32 %f10, %f6, %f1, %f2;
  fma.rn.f32 %f11, %f7, %f1, %f3;
  fma.rn.f32 %f12, %f8, %f1, %f4;
  fma.rn.f32 %f13, %f9, %f1, %f5;
  st.global.v4.f32 [%r11], {%f10, %f11, %f12, %f13};
  add.s64 %r5, %r5, %r7;
  bra next;
done:
  ret;
}
)";

}  // namespace headway::calibrate
