// Combine.h: `dst = dst ⊕ src` for one element of a dtype known at run time, as scatters with a reduction need it. Beside Index.h.
#pragma once
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

using CombineFn = void (*)(void *dst, const void *src);

// max and min propagate NaN, integers wrap.
template <class T, char Op>
static void combineOne(void *dst, const void *src) {
  Acc<T> x = toAcc(*static_cast<T *>(dst)), y = toAcc(*static_cast<const T *>(src));
  Acc<T> r = x;
  if constexpr (IsFloat<T>::value) {
    if (Op == '+')
      r = x + y;
    if (Op == '*')
      r = x * y;
  } else {
    if (Op == '+')
      r = Acc<T>(uint64_t(x) + uint64_t(y));
    if (Op == '*')
      r = Acc<T>(uint64_t(x) * uint64_t(y));
  }
  if (Op == '>')
    r = x != x || x > y ? x : y;
  if (Op == '<')
    r = x != x || x < y ? x : y;
  *static_cast<T *>(dst) = fromAcc<T>(r);
}

template <class T>
static CombineFn combineOf(char op) {
  return op == '+' ? combineOne<T, '+'> : op == '*' ? combineOne<T, '*'> : op == '>' ? combineOne<T, '>'> : combineOne<T, '<'>;
}

// Reads a `reduction` attribute: "none", "add", "mul", "max", "min". False for anything else or for a type without arithmetic.
static bool findCombine(const onnxc_attr &reduction, int32_t dtype, CombineFn &fn) {
  fn = nullptr;
  const char *s = static_cast<const char *>(reduction.p);
  if (reduction.n <= 0 || s[0] == 'n')
    return true;
  char op = s[0] == 'a' ? '+' : s[0] == 'm' && s[1] == 'u' ? '*' : s[0] == 'm' && s[1] == 'a' ? '>' : s[0] == 'm' && s[1] == 'i' ? '<' : 0;
  if (!op)
    return false;
  switch (dtype) {
  case ONNXC_F32:
    fn = combineOf<f32>(op);
    break;
  case ONNXC_F64:
    fn = combineOf<f64>(op);
    break;
  case ONNXC_F16:
    fn = combineOf<f16>(op);
    break;
  case ONNXC_BF16:
    fn = combineOf<bf16>(op);
    break;
  case ONNXC_I8:
    fn = combineOf<i8>(op);
    break;
  case ONNXC_I16:
    fn = combineOf<i16>(op);
    break;
  case ONNXC_I32:
    fn = combineOf<i32>(op);
    break;
  case ONNXC_I64:
    fn = combineOf<i64>(op);
    break;
  case ONNXC_BOOL:
  case ONNXC_U8:
    fn = combineOf<u8>(op);
    break;
  case ONNXC_U16:
    fn = combineOf<u16>(op);
    break;
  case ONNXC_U32:
    fn = combineOf<u32>(op);
    break;
  case ONNXC_U64:
    fn = combineOf<u64>(op);
    break;
  }
  return fn != nullptr;
}

}  // namespace onnxc
