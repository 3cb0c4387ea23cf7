// Functions of two numbers that take as many steps as the numbers ask for: see library/pair/cpu.rs, which this is line by line.
#include "common.cuh"

using T = V_T;

constexpr u32 THREADS = 256;

struct Pair {
    T* out;
    const T* a;
    const T* b;
    u64 n;
};

#if V_GCD
__device__ T value(T a, T b) {
    u64 x = a < 0 ? 0 - (u64)a : (u64)a, y = b < 0 ? 0 - (u64)b : (u64)b;
    while (y != 0) {
        u64 rest = x % y;
        x = y;
        y = rest;
    }
    return (T)x;
}
#else
constexpr double STIRLING = 20.0;
constexpr double TWO_PI = 6.283185307179586;
constexpr double EPSILON = 2.220446049250313e-16;

__device__ double ln_gamma_star(double a) {
    double square = 1.0 / (a * a);
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / a;
}

__device__ double ln_gamma(double a) {
    double product = 1.0;
    while (a < STIRLING) {
        product *= a;
        a += 1.0;
    }
    return (a - 0.5) * log(a) - a + 0.5 * log(TWO_PI) + ln_gamma_star(a) - log(product);
}

__device__ double factor(double a, double x) {
    if (a < STIRLING) return exp(a * log(x) - x - ln_gamma(a));
    double off = (x - a) / a;
    double power = fabs(off) < 0.5 ? a * (log1p(off) - off) : a * log(x / a) + a - x;
    return exp(power - ln_gamma_star(a)) * sqrt(a / TWO_PI);
}

__device__ double series(double a, double x) {
    double term = 1.0, sum = 1.0, at = a;
    while (term > sum * EPSILON * 0.5) {
        at += 1.0;
        term *= x / at;
        sum += term;
    }
    return factor(a, x) * sum / a;
}

__device__ double fraction(double a, double x) {
    constexpr double TINY = 1e-300;
    double b = x + 1.0 - a;
    double c = 1.0 / TINY, d = 1.0 / b;
    double result = d;
    for (int i = 1; i < 100000; i++) {
        double weight = -(double)i * ((double)i - a);
        b += 2.0;
        d = weight * d + b;
        d = 1.0 / (fabs(d) < TINY ? TINY : d);
        c = b + weight / c;
        c = fabs(c) < TINY ? TINY : c;
        result *= d * c;
        if (fabs(d * c - 1.0) <= EPSILON) break;
    }
    return factor(a, x) * result;
}

__device__ double expansion(double a, double x) {
    double off = (x - a) / a, half = 0.0;
    if (fabs(off) < 0.01) {
        for (int k = 11; k >= 2; k--) half = off * (half + (k % 2 == 0 ? 1.0 / k : -1.0 / k));
        half *= off;
    } else {
        half = off - log1p(off);
    }
    double eta = copysign(sqrt(2.0 * half), off);
    double first = fabs(off) < 1e-3 ? -1.0 / 3.0 + eta / 12.0 : 1.0 / off - 1.0 / eta;
    double q = erfc(eta * sqrt(a / 2.0)) / 2.0 + exp(-a * half) / sqrt(TWO_PI * a) * first;
    return fmin(fmax(q, 0.0), 1.0);
}

__device__ T value(T first, T second) {
    const double a = (double)first, x = (double)second;
    const double nan = __longlong_as_double(0x7ff8000000000000ll);
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    double p;
    if (a != a || x != x || a < 0.0 || x < 0.0) p = nan;
    else if (a == 0.0) p = x > 0.0 ? 1.0 : nan;
    else if (x == 0.0) p = 0.0;
    else if (a == infinity) p = x == infinity ? nan : 0.0;
    else if (x == infinity) p = 1.0;
    else if (a >= 1e8) return (T)(V_UPPER ? expansion(a, x) : 1.0 - expansion(a, x));
    else if (x < a + 1.0) p = series(a, x);
    else return (T)(V_UPPER ? fraction(a, x) : 1.0 - fraction(a, x));
    return (T)(V_UPPER ? 1.0 - p : p);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Pair p) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i < p.n) p.out[i] = value(p.a[i], p.b[i]);
}
