// SymbolicArithmetic.h: symbols and canonical integer expressions over them; the arithmetic under SymbolicShapes.
//
// Expressions are AffineExprs (semi-affine: products of symbols occur). Those that the functions here return are canonical: equal sums of
// products are the same pointer. A null expression means "not known": it goes through every function; overflow of constants gives null too.
// An expression of very many parts, or with a factor that 64 bits do not hold, is made of symbols that stand for its operands: a model may
// multiply sums as often as it likes.
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace onnxc {

struct SymbolDef {
  enum Kind {
    Input,      // a named (or anonymous) dim of a model input: `name`; `value` and `index` are one place it is found at
    Load,       // element `index` of the integer tensor `value`, read at run time
    SizeOf,     // dim `index` of the result `value`: its defining op's library size function (onnxc_s_…) says it
    Argument,   // dim `index` of the region argument, or of the result of a control-flow op, `value`; bound by the plan
    Broadcast,  // lhs == 1 ? rhs : lhs
    Max,        // of lhs and rhs; of one expression twice: that expression
    Min
  } kind;
  std::string name;
  mlir::Value value;
  int64_t index = 0;
  mlir::AffineExpr lhs, rhs;
  int64_t least = 0, expected = -1, most = INT64_MAX;  // every run keeps to them; expected: of an Input, -1: not said
};

class SymbolicArithmetic {
public:
  explicit SymbolicArithmetic(mlir::MLIRContext *context) : context(context) {}

  llvm::ArrayRef<SymbolDef> symbols() const { return defs; }
  const SymbolDef *definition(mlir::AffineExpr e) const;  // null when `e` is not a symbol
  mlir::AffineExpr constant(int64_t v) const;
  mlir::AffineExpr symbol(SymbolDef def);                              // interned
  mlir::AffineExpr broadcast(mlir::AffineExpr a, mlir::AffineExpr b);  // null when both static and incompatible
  mlir::AffineExpr max(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr min(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr add(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr sub(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr mul(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr floorDiv(mlir::AffineExpr a, mlir::AffineExpr b);  // rounds down; cancels common factors
  mlir::AffineExpr ceilDiv(mlir::AffineExpr a, mlir::AffineExpr b);   // rounds up; b > 0
  mlir::AffineExpr mod(mlir::AffineExpr a, mlir::AffineExpr b);       // sign of b
  mlir::AffineExpr product(llvm::ArrayRef<mlir::AffineExpr> factors);
  mlir::AffineExpr sum(llvm::ArrayRef<mlir::AffineExpr> terms);

  static std::optional<int64_t> constantOf(mlir::AffineExpr e);
  // What `e` is in a run whose sizes are those that are expected, and `otherwise` where nothing is said of them.
  std::optional<int64_t> valueAt(mlir::AffineExpr e, int64_t otherwise) const;
  // The type of a tensor of these sizes: static where they are constants.
  static mlir::RankedTensorType tensorType(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::Type element);
  // Bounds that hold for every value of the symbols: sizes are at least 0, loaded elements are anything.
  std::pair<int64_t, int64_t> bounds(mlir::AffineExpr e) const;
  bool isNonNegative(mlir::AffineExpr e) const { return e && bounds(e).first >= 0; }
  // A size of a tensor: a run in which it is negative fails.
  void assumeSize(mlir::AffineExpr e) {
    if (e && !constantOf(e))
      sizes.insert(e);
  }
  bool isAtLeast(mlir::AffineExpr a, mlir::AffineExpr b);
  // Calls `fn` for each symbol of `e` and of the definitions it is made of.
  void walkSymbols(mlir::AffineExpr e, llvm::function_ref<void(const SymbolDef &)> fn) const;
  // "batch*64 + 1", for diagnostics. `definitions`: how many of symbols inside each other are written out.
  std::string text(mlir::AffineExpr e, int definitions = 3) const;

protected:
  mlir::MLIRContext *context;

private:
  std::pair<int64_t, int64_t> boundsOfParts(mlir::AffineExpr e) const;
  mlir::AffineExpr derived(SymbolDef::Kind kind, mlir::AffineExpr a, mlir::AffineExpr b);
  int64_t countParts(mlir::AffineExpr e);
  mlir::AffineExpr named(mlir::AffineExpr e);
  mlir::AffineExpr shortened(mlir::AffineExpr e) { return countParts(e) > kMostParts ? named(e) : e; }
  using Monomial = std::vector<unsigned>;  // sorted ids of atoms: symbols, quotients, remainders
  using Poly = std::map<Monomial, int64_t>;
  unsigned atomId(mlir::AffineExpr e);
  std::optional<Poly> toPoly(mlir::AffineExpr e);
  mlir::AffineExpr toExpr(const Poly &p);
  std::optional<Poly> plus(mlir::AffineExpr a, mlir::AffineExpr b);
  std::optional<Poly> times(mlir::AffineExpr a, mlir::AffineExpr b);
  static bool addTerm(Poly &p, const Monomial &m, int64_t coefficient);
  static std::optional<Poly> multiply(const Poly &a, const Poly &b);
  static void cancel(Poly &a, Poly &b);
  static std::optional<Monomial> quotient(const Monomial &a, const Monomial &b);
  std::optional<Poly> exactQuotient(const Poly &a, const Poly &b);
  mlir::AffineExpr divideByTerm(const Poly &a, const Poly &b);
  mlir::AffineExpr extreme(SymbolDef::Kind kind, mlir::AffineExpr a, mlir::AffineExpr b);

  static constexpr int64_t kMostParts = 256;
  llvm::SmallVector<SymbolDef> defs;
  mutable std::map<int64_t, llvm::SmallVector<mlir::AffineExpr>> guesses;  // of valueAt: what the symbols are, by `otherwise`
  llvm::DenseSet<mlir::AffineExpr> sizes;
  std::map<std::tuple<int, std::string, const void *, int64_t, const void *, const void *>, unsigned> interned;
  llvm::DenseMap<mlir::AffineExpr, unsigned> atomIds;
  std::vector<mlir::AffineExpr> atoms;
  llvm::DenseMap<mlir::AffineExpr, int64_t> parts;
};

// The number that a size or an element is in every run; nothing for others and for null.
inline std::optional<int64_t> known(mlir::AffineExpr e) { return SymbolicArithmetic::constantOf(e); }

}  // namespace onnxc
