// SymbolicArithmetic.cpp: symbols, and expressions kept canonical as sums of products.
#include "passes/graph/SymbolicArithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
namespace onnxc {

static constexpr int64_t kLowest = INT64_MIN, kHighest = INT64_MAX;

std::optional<int64_t> SymbolicArithmetic::constantOf(AffineExpr e) {
  auto c = llvm::dyn_cast_if_present<AffineConstantExpr>(e);
  return c ? std::optional<int64_t>(c.getValue()) : std::nullopt;
}

std::optional<int64_t> SymbolicArithmetic::valueAt(AffineExpr e, int64_t otherwise) const {
  SmallVector<AffineExpr> &values = guesses[otherwise];  // a symbol is defined by earlier ones
  for (const SymbolDef &def : ArrayRef(defs).drop_front(values.size())) {
    auto of = [&](AffineExpr part) { return part ? constantOf(part.replaceSymbols(values)) : std::nullopt; };
    std::optional<int64_t> value, lhs = of(def.lhs), rhs = of(def.rhs);
    if (def.kind == SymbolDef::Broadcast)
      value = lhs == 1 ? rhs : lhs;
    else if (lhs && rhs)
      value = def.kind == SymbolDef::Max ? std::max(*lhs, *rhs) : std::min(*lhs, *rhs);
    values.push_back(constant(value.value_or(def.expected < 0 ? otherwise : def.expected)));
  }
  return e ? constantOf(e.replaceSymbols(values)) : std::nullopt;
}

RankedTensorType SymbolicArithmetic::tensorType(ArrayRef<AffineExpr> dims, Type element) {
  auto sizes = llvm::map_to_vector(dims, [](AffineExpr d) { return constantOf(d).value_or(ShapedType::kDynamic); });
  return RankedTensorType::get(sizes, element);
}
AffineExpr SymbolicArithmetic::constant(int64_t v) const { return getAffineConstantExpr(v, context); }

const SymbolDef *SymbolicArithmetic::definition(AffineExpr e) const {
  auto s = llvm::dyn_cast_if_present<AffineSymbolExpr>(e);
  return s ? &defs[s.getPosition()] : nullptr;
}

AffineExpr SymbolicArithmetic::symbol(SymbolDef def) {
  bool named = def.kind == SymbolDef::Input && !def.name.empty();
  auto key = std::make_tuple(int(def.kind), def.name, named ? nullptr : def.value.getAsOpaquePointer(), named ? 0 : def.index,
                             def.lhs.getAsOpaquePointer(), def.rhs.getAsOpaquePointer());
  auto [it, added] = interned.try_emplace(key, defs.size());
  if (added)
    defs.push_back(std::move(def));
  return getAffineSymbolExpr(it->second, context);
}

// Bounds are found once: definitions nest deeply.
AffineExpr SymbolicArithmetic::derived(SymbolDef::Kind kind, AffineExpr a, AffineExpr b) {
  SymbolDef def{kind, "", {}, 0, a, b};
  auto [leastA, mostA] = bounds(a);
  auto [leastB, mostB] = bounds(b);
  def.least = kind == SymbolDef::Max ? std::max(leastA, leastB) : std::min(leastA, leastB);
  def.most = kind == SymbolDef::Min ? std::min(mostA, mostB) : std::max(mostA, mostB);
  return symbol(def);
}

int64_t SymbolicArithmetic::countParts(AffineExpr e) {
  auto binary = llvm::dyn_cast_if_present<AffineBinaryOpExpr>(e);
  if (!binary)
    return 1;
  if (int64_t known = parts.lookup(e))
    return known;
  int64_t count = 1 + countParts(binary.getLHS()) + countParts(binary.getRHS());
  return parts[e] = count;
}

// A symbol that stands for `e`.
AffineExpr SymbolicArithmetic::named(AffineExpr e) { return constantOf(e) ? e : derived(SymbolDef::Max, e, e); }

// --- sums of products ---

unsigned SymbolicArithmetic::atomId(AffineExpr e) {
  auto [it, added] = atomIds.try_emplace(e, atoms.size());
  if (added)
    atoms.push_back(e);
  return it->second;
}

bool SymbolicArithmetic::addTerm(Poly &p, const Monomial &m, int64_t coefficient) {
  int64_t &slot = p[m];
  if (llvm::AddOverflow(slot, coefficient, slot))
    return false;
  if (slot == 0)
    p.erase(m);
  return true;
}

std::optional<SymbolicArithmetic::Poly> SymbolicArithmetic::multiply(const Poly &a, const Poly &b) {
  Poly result;
  for (const auto &[ma, ca] : a)
    for (const auto &[mb, cb] : b) {
      Monomial m;
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), std::back_inserter(m));
      int64_t c;
      if (llvm::MulOverflow(ca, cb, c) || !addTerm(result, m, c))
        return std::nullopt;
    }
  return result;
}

std::optional<SymbolicArithmetic::Poly> SymbolicArithmetic::toPoly(AffineExpr e) {
  if (!e)
    return std::nullopt;
  if (auto c = constantOf(e))
    return *c ? Poly{{{}, *c}} : Poly{};
  auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(e);
  if (!binary || (e.getKind() != AffineExprKind::Add && e.getKind() != AffineExprKind::Mul))
    return Poly{{{atomId(e)}, 1}};
  auto a = toPoly(binary.getLHS()), b = toPoly(binary.getRHS());
  if (!a || !b)
    return std::nullopt;
  if (e.getKind() == AffineExprKind::Mul)
    return multiply(*a, *b);
  for (const auto &[m, c] : *b)
    if (!addTerm(*a, m, c))
      return std::nullopt;
  return a;
}

AffineExpr SymbolicArithmetic::toExpr(const Poly &p) {
  AffineExpr sum;
  for (const auto &[m, c] : llvm::reverse(p)) {
    AffineExpr term;
    for (unsigned atom : m)
      term = term ? term * atoms[atom] : atoms[atom];
    term = !term ? constant(c) : c == 1 ? term : term * c;
    sum = sum ? sum + term : term;
  }
  return sum ? sum : constant(0);
}

std::optional<SymbolicArithmetic::Poly> SymbolicArithmetic::plus(AffineExpr a, AffineExpr b) {
  auto pa = toPoly(a), pb = toPoly(b);
  if (!pa || !pb)
    return std::nullopt;
  for (const auto &[m, c] : *pb)
    if (!addTerm(*pa, m, c))
      return std::nullopt;
  return pa;
}
std::optional<SymbolicArithmetic::Poly> SymbolicArithmetic::times(AffineExpr a, AffineExpr b) {
  auto pa = toPoly(a), pb = toPoly(b);
  bool isShort = pa && pb && int64_t(pa->size() * pb->size()) <= kMostParts;
  return isShort ? multiply(*pa, *pb) : std::nullopt;
}

AffineExpr SymbolicArithmetic::add(AffineExpr a, AffineExpr b) {
  if (!a || !b)
    return {};
  auto p = plus(a, b);
  if (!p && !(constantOf(a) && constantOf(b)))
    p = plus(named(a), named(b));
  return p ? shortened(toExpr(*p)) : AffineExpr();
}
AffineExpr SymbolicArithmetic::sub(AffineExpr a, AffineExpr b) { return add(a, mul(b, constant(-1))); }
AffineExpr SymbolicArithmetic::mul(AffineExpr a, AffineExpr b) {
  if (!a || !b)
    return {};
  auto p = times(a, b);
  if (!p && !(constantOf(a) && constantOf(b)))
    p = times(named(a), named(b));
  return p ? shortened(toExpr(*p)) : AffineExpr();
}
AffineExpr SymbolicArithmetic::product(ArrayRef<AffineExpr> factors) {
  AffineExpr result = constant(1);
  for (AffineExpr f : factors)
    result = mul(result, f);
  return result;
}
AffineExpr SymbolicArithmetic::sum(ArrayRef<AffineExpr> terms) {
  AffineExpr result = constant(0);
  for (AffineExpr t : terms)
    result = add(result, t);
  return result;
}

// --- division ---

std::optional<SymbolicArithmetic::Monomial> SymbolicArithmetic::quotient(const Monomial &a, const Monomial &b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end()))
    return std::nullopt;
  Monomial q;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(q));
  return q;
}

// Divides both by the monomial and the positive integer that divide all terms of both.
void SymbolicArithmetic::cancel(Poly &a, Poly &b) {
  Monomial common = b.begin()->first;
  int64_t factor = 0;
  for (const Poly *p : {&a, &b})
    for (const auto &[m, c] : *p) {
      Monomial both;
      std::set_intersection(common.begin(), common.end(), m.begin(), m.end(), std::back_inserter(both));
      common = both;
      factor = c == kLowest ? 1 : std::gcd(factor, c);
    }
  for (Poly *p : {&a, &b}) {
    Poly reduced;
    for (const auto &[m, c] : *p)
      reduced[*quotient(m, common)] = factor ? c / factor : c;
    *p = std::move(reduced);
  }
}

// q with a = q * b where q is one product; nothing when there is none.
std::optional<SymbolicArithmetic::Poly> SymbolicArithmetic::exactQuotient(const Poly &a, const Poly &b) {
  const auto &[leading, coefficient] = *b.begin();
  for (const auto &[m, c] : a)
    if (auto q = quotient(m, leading); q && c % coefficient == 0) {
      Poly candidate{{*q, c / coefficient}};
      if (auto back = multiply(candidate, b); back && *back == a)
        return candidate;
    }
  return std::nullopt;
}

// a / b for b of one term: the terms that b divides leave the quotient as they are, the rest stays below it. Of a constant only a remainder
// stays: (x - 1) / 2 is (x + 1) / 2 - 1.
AffineExpr SymbolicArithmetic::divideByTerm(const Poly &a, const Poly &b) {
  const auto &[divisor, coefficient] = *b.begin();
  bool bottomIsConstant = divisor.empty() && coefficient > 0;
  Poly whole, rest;
  for (const auto &[m, c] : a) {
    auto q = quotient(m, divisor);
    if (q && (c % coefficient == 0 || (bottomIsConstant && m.empty()))) {
      addTerm(whole, *q, llvm::divideFloorSigned(c, coefficient));
      addTerm(rest, m, c % coefficient < 0 ? c % coefficient + coefficient : c % coefficient);
    } else {
      rest[m] = c;
    }
  }
  if (rest.empty())
    return shortened(toExpr(whole));
  AffineExpr top = toExpr(rest), bottom = toExpr(b);
  auto ct = constantOf(top), cb = constantOf(bottom);
  if (ct && cb)
    return add(toExpr(whole), constant(llvm::divideFloorSigned(*ct, *cb)));
  if (cb && *cb < 0)
    return {};
  return add(toExpr(whole), top.floorDiv(bottom));
}

AffineExpr SymbolicArithmetic::floorDiv(AffineExpr a, AffineExpr b) {
  auto pa = toPoly(a), pb = toPoly(b);
  if (!pa || !pb || pb->empty())
    return {};
  if (pa->empty())
    return constant(0);
  cancel(*pa, *pb);
  if (auto q = exactQuotient(*pa, *pb))
    return shortened(toExpr(*q));
  if (pb->size() == 1)
    return divideByTerm(*pa, *pb);
  return shortened(toExpr(*pa).floorDiv(toExpr(*pb)));
}
AffineExpr SymbolicArithmetic::ceilDiv(AffineExpr a, AffineExpr b) { return floorDiv(add(a, sub(b, constant(1))), b); }
AffineExpr SymbolicArithmetic::mod(AffineExpr a, AffineExpr b) {
  AffineExpr q = floorDiv(a, b);
  return sub(a, mul(b, q));
}

// --- bounds ---

static int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t r;
  if (!llvm::MulOverflow(a, b, r))
    return r;
  return (a < 0) == (b < 0) ? kHighest : kLowest;
}
static int64_t saturatingAdd(int64_t a, int64_t b, int64_t infinity) {
  int64_t r;
  return a == infinity || b == infinity || llvm::AddOverflow(a, b, r) ? infinity : r;
}
using Bounds = std::pair<int64_t, int64_t>;
static Bounds timesConstant(Bounds x, int64_t c) {
  auto scale = [&](int64_t v, bool low) {
    if (v == kLowest || v == kHighest)
      return (v == kLowest) == (c > 0) ? kLowest : kHighest;
    return saturatingMul(v, c);
  };
  if (c == 0)
    return {0, 0};
  return c > 0 ? Bounds(scale(x.first, true), scale(x.second, false)) : Bounds(scale(x.second, true), scale(x.first, false));
}

Bounds SymbolicArithmetic::bounds(AffineExpr e) const {
  Bounds b = boundsOfParts(e);
  if (b.first < 0 && sizes.contains(e))
    b.first = 0;
  return b;
}

Bounds SymbolicArithmetic::boundsOfParts(AffineExpr e) const {
  if (auto c = constantOf(e))
    return {*c, *c};
  if (const SymbolDef *def = definition(e))
    return def->kind == SymbolDef::Load ? Bounds(kLowest, kHighest) : Bounds(def->least, def->most);
  auto binary = llvm::cast<AffineBinaryOpExpr>(e);
  Bounds a = bounds(binary.getLHS()), b = bounds(binary.getRHS());
  switch (e.getKind()) {
  case AffineExprKind::Add:
    return {saturatingAdd(a.first, b.first, kLowest), saturatingAdd(a.second, b.second, kHighest)};
  case AffineExprKind::Mul:
    if (auto c = constantOf(binary.getRHS()))
      return timesConstant(a, *c);
    if (a.first >= 0 && b.first >= 0)
      return {saturatingMul(a.first, b.first), a.second == kHighest || b.second == kHighest ? kHighest : saturatingMul(a.second, b.second)};
    if (a.first >= 0)
      std::swap(a, b);
    if (b.first < 0 || a.second == kHighest || b.second == kHighest)
      return {kLowest, kHighest};
    return {kLowest, saturatingMul(std::max<int64_t>(a.second, 0), b.second)};
  case AffineExprKind::Mod:
    return {0, b.first >= 0 && b.second != kHighest ? std::max<int64_t>(b.second - 1, 0) : kHighest};
  default:
    int64_t most = a.second == kHighest ? kHighest : std::max<int64_t>(a.second, 0) / std::max<int64_t>(b.first, 1);
    if (a.first < 0 || b.first < 0)
      return {kLowest, most};
    return {b.second == kHighest ? 0 : a.first / std::max<int64_t>(b.second, 1), most};
  }
}

bool SymbolicArithmetic::isAtLeast(AffineExpr a, AffineExpr b) {
  AffineExpr difference = sub(a, b);
  return difference && bounds(difference).first >= 0;
}

// --- extremes and broadcasts ---

AffineExpr SymbolicArithmetic::extreme(SymbolDef::Kind kind, AffineExpr a, AffineExpr b) {
  if (!a || !b)
    return {};
  if (isAtLeast(a, b))
    return kind == SymbolDef::Max ? a : b;
  if (isAtLeast(b, a))
    return kind == SymbolDef::Max ? b : a;
  for (auto [x, y] : {std::make_pair(a, b), std::make_pair(b, a)})
    if (const SymbolDef *def = definition(x); def && def->kind == kind && (def->lhs == y || def->rhs == y))
      return x;
  if (atomId(b) < atomId(a))
    std::swap(a, b);
  return derived(kind, a, b);
}
AffineExpr SymbolicArithmetic::max(AffineExpr a, AffineExpr b) { return extreme(SymbolDef::Max, a, b); }
AffineExpr SymbolicArithmetic::min(AffineExpr a, AffineExpr b) { return extreme(SymbolDef::Min, a, b); }

AffineExpr SymbolicArithmetic::broadcast(AffineExpr a, AffineExpr b) {
  auto ca = constantOf(a), cb = constantOf(b);
  if (a == b || (cb && *cb == 1))
    return a;
  if (ca && *ca == 1)
    return b;
  if (ca && cb)
    return {};
  // A size that cannot be 1 is the result; the other one is 1 or the same.
  if (ca || (!cb && bounds(a).first >= 2))
    return a;
  if (cb || bounds(b).first >= 2)
    return b;
  for (auto [x, y] : {std::make_pair(a, b), std::make_pair(b, a)})
    if (const SymbolDef *def = definition(x); def && (def->lhs == y || def->rhs == y)) {
      if (def->kind == SymbolDef::Broadcast)
        return x;
      if (def->kind == SymbolDef::Min)  // min(y, z) is y or 1 where it broadcasts with y at all
        return y;
    }
  if (atomId(b) < atomId(a))
    std::swap(a, b);
  return derived(SymbolDef::Broadcast, a, b);
}

void SymbolicArithmetic::walkSymbols(AffineExpr e, llvm::function_ref<void(const SymbolDef &)> fn) const {
  llvm::SmallVector<AffineExpr> waiting{e};
  llvm::DenseSet<AffineExpr> seen;
  while (!waiting.empty())
    waiting.pop_back_val().walk([&](AffineExpr part) {
      const SymbolDef *def = definition(part);
      if (!def || !seen.insert(part).second)
        return;
      fn(*def);
      for (AffineExpr operand : {def->lhs, def->rhs})
        if (operand)
          waiting.push_back(operand);
    });
}

std::string SymbolicArithmetic::text(AffineExpr e, int definitions) const {
  if (!e)
    return "?";
  if (auto c = constantOf(e))
    return std::to_string(*c);
  if (const SymbolDef *def = definition(e)) {
    if (!def->name.empty())
      return def->name;
    if (def->lhs && definitions == 0)
      return "…";
    if (def->kind == SymbolDef::Max || def->kind == SymbolDef::Min || def->kind == SymbolDef::Broadcast)
      return std::string(def->kind == SymbolDef::Max   ? "max("
                         : def->kind == SymbolDef::Min ? "min("
                                                       : "broadcast(") +
             text(def->lhs, definitions - 1) + ", " + text(def->rhs, definitions - 1) + ")";
    return "?";
  }
  auto binary = llvm::cast<AffineBinaryOpExpr>(e);
  std::string a = text(binary.getLHS(), definitions), b = text(binary.getRHS(), definitions);
  auto factor = [](AffineExpr part, const std::string &t) {
    return llvm::isa<AffineBinaryOpExpr>(part) && part.getKind() != AffineExprKind::Mul ? "(" + t + ")" : t;
  };
  switch (e.getKind()) {
  case AffineExprKind::Add:
    return a + " + " + b;
  case AffineExprKind::Mul:
    return factor(binary.getLHS(), a) + "*" + factor(binary.getRHS(), b);
  case AffineExprKind::Mod:
    return "((" + a + ") mod (" + b + "))";
  default:
    return "((" + a + ") / (" + b + "))";
  }
}

}  // namespace onnxc
