// Fourier.h: discrete Fourier transforms of L sequences side by side, whose k-th numbers are the lanes of one vector. For Signal.cpp.
//
// Lengths of factors 2, 3, 4 and 5 take one pass over the sequence for each factor, from one buffer into another (Stockham 1966, as in Van
// Loan, "Computational Frameworks for the Fast Fourier Transform", 1992); other lengths Bluestein's convolution (1970) in double. A real
// sequence of even length is transformed as a complex one of half of it. Sums and products are rounded one by one, in the usual order of
// these butterflies: a result does not depend on L.
#pragma once
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

constexpr double pi = 3.14159265358979323846;

template <class R, int L>
struct LanesOf {
  typedef R Type __attribute__((ext_vector_type(L)));
};
template <class R>
struct LanesOf<R, 1> {
  using Type = R;
};

template <class V>  // a number, or the lanes of several
struct Complex {
  V re, im;
};
template <class R, int L>
using Lines = Complex<typename LanesOf<R, L>::Type>;

template <class V>
ONNXC_INLINE Complex<V> operator+(Complex<V> x, Complex<V> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class V>
ONNXC_INLINE Complex<V> operator-(Complex<V> x, Complex<V> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class R, class V>
ONNXC_INLINE Complex<V> operator*(R x, Complex<V> y) {
  return {x * y.re, x * y.im};
}
template <class V, class R>
ONNXC_INLINE Complex<V> times(Complex<V> x, Complex<R> y) {
#pragma clang fp contract(off)
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class V>
ONNXC_INLINE Complex<V> turned(Complex<V> x) {  // by a quarter
  return {-x.im, x.re};
}
template <class V>
ONNXC_INLINE Complex<V> conjugate(Complex<V> x) {
  return {x.re, -x.im};
}

template <class To, int L, class V>
ONNXC_INLINE Lines<To, L> converted(Complex<V> x) {
  if constexpr (L == 1) {
    return {To(x.re), To(x.im)};
  } else {
    using W = typename LanesOf<To, L>::Type;
    return {__builtin_convertvector(x.re, W), __builtin_convertvector(x.im, W)};
  }
}

// exp(2 pi i k / n) for every k < n: computed for an eighth of them where 4 divides n, for half of them else.
template <class R>
Complex<R> *rootsOfUnity(const Args *a, int64_t n) {
  auto *root = heap<Complex<R>>(a, n);
  if (!root)
    return nullptr;
  int64_t quarter = n % 4 == 0 ? n / 4 : 0, most = quarter ? quarter / 2 : n / 2;
  for (int64_t k = 0; k <= most; ++k) {
    double phase = 2 * pi * double(k) / double(n);
    Complex<R> w = {R(cos(phase)), R(sin(phase))};
    root[k] = w;
    if (quarter)
      root[quarter - k] = {w.im, w.re};
    else if (k)
      root[n - k] = conjugate(w);
  }
  for (int64_t k = quarter; quarter && k < n; ++k)
    root[k] = turned(root[k - quarter]);
  return root;
}

// The transform of P points in place, with phases exp(sign * 2 pi i / P).
template <int P, class R, class C>
ONNXC_INLINE void butterfly(C *x, R sign) {
#pragma clang fp contract(off)
  if constexpr (P == 2) {
    C a = x[0], b = x[1];
    x[0] = a + b, x[1] = a - b;
  } else if constexpr (P == 3) {
    C a = x[0], s = x[1] + x[2], d = turned((sign * R(0.86602540378443864676)) * (x[1] - x[2])), m = a + R(-0.5) * s;
    x[0] = a + s, x[1] = m + d, x[2] = m - d;
  } else if constexpr (P == 4) {
    C s = x[0] + x[2], d = x[0] - x[2], u = x[1] + x[3], v = turned(sign * (x[1] - x[3]));
    x[0] = s + u, x[1] = d + v, x[2] = s - u, x[3] = d - v;
  } else {
    constexpr R c1 = R(0.30901699437494742410), c2 = R(-0.80901699437494742410);
    R s1 = sign * R(0.95105651629515357212), s2 = sign * R(0.58778525229247312917);
    C a = x[0], t1 = x[1] + x[4], t4 = x[1] - x[4], t2 = x[2] + x[3], t3 = x[2] - x[3];
    C m1 = a + c1 * t1 + c2 * t2, m2 = a + c2 * t1 + c1 * t2, d1 = turned(s1 * t4 + s2 * t3), d2 = turned(s2 * t4 - s1 * t3);
    x[0] = a + t1 + t2, x[1] = m1 + d1, x[4] = m1 - d1, x[2] = m2 + d2, x[3] = m2 - d2;
  }
}

// One factor P: from[i + run * (j + P * k)] to to[i + run * (k + groups * j)], turned by twiddle[j - 1][i].
template <int P, class R, class C>
ONNXC_INLINE void pass(const C *from, C *to, const Complex<R> *twiddle, int64_t groups, int64_t run, R sign) {
  for (int64_t k = 0; k < groups; ++k)
    for (int64_t i = 0; i < run; ++i) {
      C x[P];
      for (int j = 0; j < P; ++j)
        x[j] = from[i + run * (j + P * k)];
      butterfly<P>(x, sign);
      to[i + run * k] = x[0];
      for (int j = 1; j < P; ++j) {
        Complex<R> w = twiddle[(j - 1) * run + i];
        to[i + run * (k + groups * j)] = i ? times(x[j], Complex<R>{w.re, sign * w.im}) : x[j];
      }
    }
}

constexpr int kFactors[] = {4, 2, 3, 5};

// Lengths of factors 2 to 5.
template <class R>
struct Fourier {
  int64_t n = 0;
  int count = 0, factor[64];
  Complex<R> *twiddle = nullptr;  // all factors' one after the other

  // Factors of 4 first, a single 2 before all. False when another factor is left.
  bool factorise(int64_t length) {
    n = length, count = 0;
    for (int p : kFactors)
      for (; length % p == 0; length /= p) {
        factor[count++] = p;
        if (p == 2)
          factor[count - 1] = factor[0], factor[0] = 2;
      }
    return length == 1;
  }

  // `root`: exp(2 pi i k / (n * every)).
  bool prepare(const Args *a, const Complex<R> *root, int64_t every) {
    int64_t size = 0, groups = 1;
    for (int f = 0; f < count; groups *= factor[f++])
      size += (factor[f] - 1) * (n / (groups * factor[f]));
    if (!(twiddle = heap<Complex<R>>(a, size)))
      return false;
    Complex<R> *to = twiddle;
    groups = 1;
    for (int f = 0; f < count; groups *= factor[f++])
      for (int64_t j = 1, run = n / (groups * factor[f]); j < factor[f]; ++j)
        for (int64_t i = 0; i < run; ++i)
          *to++ = root[j * groups * i * every];
    return true;
  }

  // sign -1: forward, 1: backward, without a factor. `other`: room for as many numbers.
  template <class C>
  void run(C *x, C *other, R sign) const {
    const C *from = x;
    const Complex<R> *w = twiddle;
    C *to = other;
    int64_t groups = 1;
    for (int f = 0; f < count; ++f) {
      int64_t p = factor[f], length = n / (groups * p);
      if (p == 2)
        pass<2>(from, to, w, groups, length, sign);
      else if (p == 3)
        pass<3>(from, to, w, groups, length, sign);
      else if (p == 4)
        pass<4>(from, to, w, groups, length, sign);
      else
        pass<5>(from, to, w, groups, length, sign);
      w += (p - 1) * length, groups *= p;
      C *next = to == other ? x : other;
      from = to, to = next;
    }
    if (from != x)
      memcpy(x, from, size_t(n) * sizeof(C));
  }
};

// Any length. `chirp` holds the phases of Bluestein's algorithm, `filter` their transform.
template <class R>
struct Transform {
  using D = Complex<double>;
  int64_t n = 0;
  bool half = false;  // a real sequence as one of n / 2 complex numbers, its even and its odd ones
  Fourier<R> direct;
  Complex<R> *root = nullptr;
  Fourier<double> power;
  D *chirp = nullptr, *filter = nullptr;

  bool prepare(const Args *a, int64_t length, bool real) {
    n = length;
    half = real && n % 2 == 0 && direct.factorise(n / 2);
    if (half || direct.factorise(n))
      return (root = rootsOfUnity<R>(a, n)) && direct.prepare(a, root, half ? 2 : 1);
    int64_t m = 1;
    while (m < 2 * n - 1)
      m *= 2;
    power.factorise(m);
    const D *roots = rootsOfUnity<double>(a, m);
    D *room = heap<D>(a, m);
    chirp = heap<D>(a, n), filter = heap<D>(a, m);
    if (!roots || !room || !chirp || !filter || !power.prepare(a, roots, 1))
      return false;
    for (int64_t k = 0, phase = 0; k < n; phase = (phase + 2 * k + 1) % (2 * n), ++k) {  // phase: k * k modulo 2n
      chirp[k] = {cos(pi * double(phase) / double(n)), -sin(pi * double(phase) / double(n))};
      filter[k] = conjugate(chirp[k]);
      if (k)
        filter[m - k] = filter[k];
    }
    power.run(filter, room, -1.0);
    return true;
  }

  // Bytes behind the n numbers of `line` that a transform of L sequences works in.
  template <int L>
  int64_t room() const {
    return chirp ? 2 * power.n * int64_t(sizeof(Lines<double, L>)) : n * int64_t(sizeof(Lines<R, L>));
  }

  // The spectrum in place of the sequence, which is packed where `half`.
  template <int L>
  void forward(Lines<R, L> *line, void *room) const {
    if (chirp)
      return bluestein<L>(line, static_cast<Lines<double, L> *>(room));
    direct.run(line, static_cast<Lines<R, L> *>(room), R(-1));
    if (half)
      unfold(line);
  }

  // Not of what is packed.
  template <int L>
  void inverse(Lines<R, L> *line, void *room) const {
    if (!chirp) {
      direct.run(line, static_cast<Lines<R, L> *>(room), R(1));
    } else {
      for (int64_t k = 0; k < n; ++k)
        line[k] = conjugate(line[k]);
      forward<L>(line, room);
      for (int64_t k = 0; k < n; ++k)
        line[k] = conjugate(line[k]);
    }
    for (int64_t k = 0; k < n; ++k)
      line[k] = R(1 / double(n)) * line[k];
  }

private:
  template <int L>
  void bluestein(Lines<R, L> *line, Lines<double, L> *padded) const {
    using Wide = Lines<double, L>;
    Wide *other = padded + power.n;
    for (int64_t k = 0; k < n; ++k)
      padded[k] = times(converted<double, L>(line[k]), chirp[k]);
    memset(padded + n, 0, size_t(power.n - n) * sizeof(Wide));
    power.run(padded, other, -1.0);
    for (int64_t k = 0; k < power.n; ++k)
      padded[k] = times(padded[k], filter[k]);
    power.run(padded, other, 1.0);
    for (int64_t k = 0; k < n; ++k)
      line[k] = converted<R, L>(times((1 / double(power.n)) * padded[k], chirp[k]));
  }

  // The spectrum X of n real numbers from Z, that of their even numbers and i times their odd ones: with m = n / 2, E and O the spectra of
  // either, E[k] = (Z[k] + conj Z[m - k]) / 2, i O[k] = (Z[k] - conj Z[m - k]) / 2, X[k] = E[k] + w^k O[k], X[m - k] = conj(E[k] - w^k
  // O[k]).
  template <class C>
  void unfold(C *x) const {
    int64_t m = n / 2;
    C first = x[0];
    x[0] = {first.re + first.im, first.re - first.re}, x[m] = {first.re - first.im, first.re - first.re};
    for (int64_t k = 1; k <= m - k; ++k) {
      C left = x[k], right = conjugate(x[m - k]), even = R(0.5) * (left + right), odd = R(-0.5) * turned(left - right);
      C far = times(odd, conjugate(root[k]));
      x[k] = even + far, x[m - k] = conjugate(even - far);
    }
    for (int64_t k = 1; k < m; ++k)
      x[n - k] = conjugate(x[k]);
  }
};

}  // namespace onnxc
