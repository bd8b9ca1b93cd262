// Layers.cpp: see Layers.h. Values meet by the node's name: at both levels the last launch of a node makes what the node says, in the
// model's layout or in blocks of 16 channels. What has another kind of element, another shape or no partner (a folded or fused node) is
// counted and not judged. Nor is what a node's last launch makes on the way to a value that another node's kernel finishes: that the
// model's results are right shows it.
#include "compiler/commands/Layers.h"
#include "dialects/onnx/Blocked.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace onnxc {

namespace {
using ByNode = std::map<std::pair<std::string, int>, const NodeResult *>;

struct Distance {
  double largest = 0, scale = 0;  // largest difference, largest finite value of the reference
  double relative() const { return largest == 0 ? 0 : largest / std::max(scale, 1e-30); }
};

// Why a result is not judged.
constexpr const char *kNoLaunch = "no launch of the optimised code makes it: folded, or fused into another";
constexpr const char *kOtherForm = "the optimised code has it in another type or shape";
constexpr const char *kOnTheWay = "the optimised code makes another value under this name: no result of the model differs";
}  // namespace

// Optimised code keeps f32 where the model, and -O0, have 16 bits.
static bool sameKind(int32_t a, int32_t b) {
  auto isReal = [](int32_t dtype) { return !isInteger(dtype) && !isComplex(dtype); };
  return a == b || (isReal(a) && isReal(b));
}

// The tensor [N, C, …] that [N, blocks, …, 16] holds, or the tensor itself, with a height of 1 where [N, C, W] has none (Blocked.h); false:
// neither.
static bool inShapeOf(const Value &want, const Value &got, std::vector<int64_t> &places) {
  if (!sameKind(want.dtype, got.dtype))
    return false;
  int64_t n = want.count();
  places.resize(n);
  std::vector<int64_t> image = want.dims;
  if (image.size() == 3)
    image.insert(image.begin() + 2, 1);
  if (want.dims == got.dims || image == got.dims) {
    std::iota(places.begin(), places.end(), 0);
    return true;
  }
  size_t rank = image.size();
  if (rank < 4 || got.dims.size() != rank + 1 || got.dims[rank] != kLanes || got.dims[0] != image[0] ||
      got.dims[1] != (image[1] + kLanes - 1) / kLanes || !std::equal(image.begin() + 2, image.end(), got.dims.begin() + 2))
    return false;
  int64_t channels = image[1], plane = 1;
  for (size_t d = 2; d < rank; ++d)
    plane *= image[d];
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = i % plane, channel = i / plane % channels, batch = i / plane / channels;
    places[i] = ((batch * got.dims[1] + channel / kLanes) * plane + at) * kLanes + channel % kLanes;
  }
  return true;
}

static Distance distance(const Value &want, const Value &got, const std::vector<int64_t> &places) {
  Distance d;
  for (size_t i = 0; i < places.size(); ++i) {
    double w = elementAsDouble(want, i), g = elementAsDouble(got, places[i]);
    if (std::isfinite(w))
      d.scale = std::max(d.scale, std::fabs(w));
    if (w == g || (std::isnan(w) && std::isnan(g)))
      continue;
    double off = std::fabs(w - g);
    d.largest = std::isnan(off) ? INFINITY : std::max(d.largest, off);
  }
  return d;
}

static ByNode lastOfEach(const std::vector<NodeResult> &results) {
  ByNode map;
  for (const NodeResult &r : results)
    if (r.op != "packed.Block")  // a copy of what another node made
      map[{r.node, r.index}] = &r;
  return map;
}

// For each result, the part of its largest value that rounding may change: what is widened to f32 keeps the digits of the halves before it.
static std::vector<double> roundings(const std::vector<NodeResult> &results, const Tolerance &tolerance) {
  std::vector<double> parts;
  for (const NodeResult &r : results)
    parts.push_back(std::max(parts.empty() ? 0 : parts.back(), partOfLargest(tolerance, r.value.dtype)));
  return parts;
}

static llvm::Error traceRun(Artefact &artefact, const std::vector<Value> &inputs, std::vector<NodeResult> &results) {
  artefact.bind(inputs);
  return artefact.trace(results);
}

static bool haveEqualResults(const Artefact &artefact, const Artefact &reference, const Tolerance &tolerance) {
  std::vector<Value> got = artefact.results(), want = reference.results();
  for (size_t i = 0; i < want.size(); ++i)
    if (!difference(want[i], got[i], tolerance).empty())
      return false;
  return true;
}

llvm::Expected<LayerReport> compareLayers(Artefact &artefact, Artefact &reference, const std::vector<Value> &inputs,
                                          const Tolerance &tolerance) {
  std::vector<NodeResult> got, want;
  if (llvm::Error error = traceRun(artefact, inputs, got))
    return std::move(error);
  if (llvm::Error error = traceRun(reference, inputs, want))
    return std::move(error);
  ByNode wanted = lastOfEach(want), made = lastOfEach(got);
  std::vector<double> rounding = roundings(want, tolerance);
  LayerReport report;
  report.results = wanted.size();
  std::set<ByNode::key_type> compared;
  const bool areEqual = haveEqualResults(artefact, reference, tolerance);
  for (const NodeResult &result : got) {
    auto it = wanted.find({result.node, result.index}), own = made.find({result.node, result.index});
    std::vector<int64_t> places;
    if (own == made.end() || own->second != &result || it == wanted.end() || !inShapeOf(it->second->value, result.value, places))
      continue;
    Distance d = distance(it->second->value, result.value, places);
    bool differs = d.largest > tolerance.atol + (tolerance.rtol + rounding[it->second - want.data()]) * d.scale;
    compared.insert({result.node, result.index});
    if (differs && areEqual) {
      report.skipped.push_back({result.node, kOnTheWay});
      continue;
    }
    ++report.compared;
    if (d.relative() > report.worst)
      report.worst = d.relative(), report.worstNode = result.node;
    if (differs)
      report.differ.push_back({result.node, result.op, it->second->value.type(), result.kernel, d.largest, d.scale});
  }
  for (const NodeResult &result : want)
    if (ByNode::key_type key{result.node, result.index}; wanted[key] == &result && !compared.count(key))
      report.skipped.push_back({result.node, made.count(key) ? kOtherForm : kNoLaunch});
  return report;
}

// "not compared: a, b and 3 more (why)", a line for each reason.
static void printSkipped(const LayerReport &report, size_t shown) {
  for (const char *why : {kNoLaunch, kOtherForm, kOnTheWay}) {
    size_t count = 0;
    for (const LayerSkipped &skipped : report.skipped)
      if (skipped.why == why && count++ < shown)
        llvm::outs() << (count == 1 ? "not compared: " : ", ") << skipped.node;
    if (count > shown)
      llvm::outs() << " and " << count - shown << " more";
    if (count)
      llvm::outs() << " (" << why << ")\n";
  }
}

void printLayers(const LayerReport &report) {
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(report.differ.size(), kShown); ++i) {
    const LayerDifference &d = report.differ[i];
    llvm::outs() << (i ? "      " : "first ") << d.node << " (" << d.op << ", " << d.type
                 << "): " << llvm::format("off by %.3g, largest value %.3g", d.largest, d.scale) << "; kernel " << d.kernel << "\n";
  }
  llvm::outs() << report.compared << " of " << report.results << " results of the model compared with -O0, " << report.differ.size()
               << " differ";
  if (report.worst > 0)
    llvm::outs() << "; most: " << llvm::format("%.3g", report.worst) << " of the largest value, at " << report.worstNode;
  llvm::outs() << "\n";
  printSkipped(report, kShown);
}

}  // namespace onnxc
