// CUDA as kernels of CubeCL use it, for a C++ compiler of the processor. emulate.c has the functions.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

// CUDA has them without a namespace.
using std::isinf;
using std::isnan;

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) alignas(bytes)

struct Index {
    unsigned x, y, z;
};

extern "C" {
extern Index threadIdx, blockIdx, blockDim, gridDim;
extern char *emulated_shared;
void emulated_sync_block();
void emulated_sync_warp();
unsigned emulated_active();
unsigned emulated_vote(int holds);
int emulated_lane();
void emulated_exchange(const void *given, void *taken, size_t bytes, int lane);
}

constexpr int warpSize = 32;

// Barriers; whatever is written is seen by all at once.
#define __syncthreads() emulated_sync_block()
#define __syncwarp(...) emulated_sync_warp()
#define __threadfence()
#define __activemask() emulated_active()

// Shuffles and votes.
template <class T> T emulated_value_of(T given, int lane) {
    T taken;
    emulated_exchange(&given, &taken, sizeof(T), lane);
    return taken;
}
#define __shfl_sync(mask, value, lane) emulated_value_of(value, (int)(lane) & 31)
#define __shfl_xor_sync(mask, value, bits) emulated_value_of(value, emulated_lane() ^ (int)(bits))
#define __shfl_up_sync(mask, value, by) emulated_value_of(value, emulated_lane() - (int)(by))
#define __shfl_down_sync(mask, value, by) emulated_value_of(value, emulated_lane() + (int)(by))
#define __ballot_sync(mask, holds) emulated_vote(!!(holds))
#define __any_sync(mask, holds) (emulated_vote(!!(holds)) != 0)
#define __all_sync(mask, holds) (emulated_vote(!(holds)) == 0)

// Numbers. A maximum with what is not a number is the other one, as on a GPU.
template <class A, class B> constexpr bool emulated_integers = std::is_integral_v<A> && std::is_integral_v<B>;
template <class A, class B> auto max(A a, B b) {
    using Common = std::common_type_t<A, B>;
    if constexpr (emulated_integers<A, B>)
        return (Common)a > (Common)b ? (Common)a : (Common)b;
    else
        return std::fmax((Common)a, (Common)b);
}
template <class A, class B> auto min(A a, B b) {
    using Common = std::common_type_t<A, B>;
    if constexpr (emulated_integers<A, B>)
        return (Common)a < (Common)b ? (Common)a : (Common)b;
    else
        return std::fmin((Common)a, (Common)b);
}
inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
inline int __clz(unsigned bits) { return bits ? __builtin_clz(bits) : 32; }
inline int __clzll(unsigned long long bits) { return bits ? __builtin_clzll(bits) : 64; }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

template <class To, class From> To emulated_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
inline unsigned __float_as_uint(float x) { return emulated_bits<unsigned>(x); }
inline int __float_as_int(float x) { return emulated_bits<int>(x); }
inline float __uint_as_float(unsigned x) { return emulated_bits<float>(x); }
inline float __int_as_float(int x) { return emulated_bits<float>(x); }

// The upper half of an f32, rounded to the nearest, ties to even.
struct __nv_bfloat16 {
    uint16_t bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float x) {
        uint32_t whole = __float_as_uint(x);
        bits = std::isnan(x) ? 0x7fff : (uint16_t)((whole + 0x7fff + (whole >> 16 & 1)) >> 16);
    }
    operator float() const { return __uint_as_float((uint32_t)bits << 16); }
};

// Calls a kernel with parameters as the driver has them.
template <class... Parameters, size_t... At>
void emulated_unpack(void (*kernel)(Parameters...), void **parameters, std::index_sequence<At...>) {
    kernel(*(std::remove_cv_t<Parameters> *)parameters[At]...);
}
template <class... Parameters> void emulated_call(void (*kernel)(Parameters...), void **parameters) {
    emulated_unpack(kernel, parameters, std::index_sequence_for<Parameters...>{});
}
