// Microsoft.h: operators of com.microsoft that are others in one graph. Microsoft.cpp has the table and what is elementwise, quantised or
// in another layout, MicrosoftAttention.cpp what transformers are made of, MicrosoftStreams.cpp residual streams, Nchwc.cpp
// com.microsoft.nchwc; Walk.cpp splices the bodies in as it does the standard's.
#pragma once
#include "compiler/import/Walk.h"

namespace onnxc::importer {

// A node of which a body is made.
class MicrosoftCall {
public:
  MicrosoftCall(const pb::NodeProto &node, const Scope &scope, bool gatherMatrices)
      : gatherMatrices(gatherMatrices), node(node), scope(scope) {}

  bool has(int input) const { return input < node.input_size() && !node.input(input).empty(); }
  int64_t integer(const char *name, int64_t otherwise) const;
  bool isPlain(const char *name, int64_t plain) const;  // notPlainError of Upgrade.h finds nothing
  float real(const char *name, float otherwise) const;
  std::string text(const char *name, const std::string &otherwise) const;
  std::vector<int64_t> integers(const char *name) const;
  std::vector<float> reals(const char *name) const;
  int rank(int input) const { return has(input) ? scope.rank(node.input(input)) : -1; }
  int elementType(int input) const { return has(input) ? scope.elementType(node.input(input)) : 0; }
  int64_t knownSize(int input, int axis) const;  // -1: unknown
  bool constant(int input, std::vector<int64_t> &values) const { return has(input) && scope.ints(node.input(input), values); }
  // A static size of an input; reports that it is unknown and gives 1.
  int64_t size(int input, int axis) const;
  // The body is impossible: gives "".
  std::string fail(const std::string &why) const {
    error = why;
    return "";
  }

  mutable std::string error;
  const bool gatherMatrices;  // ImportOptions

private:
  const pb::NodeProto &node;
  const Scope &scope;
};

struct MicrosoftBody {
  const char *op;
  const char *operands, *results;                // names; those that may be absent end with '?'
  std::string (*nodes)(const MicrosoftCall &c);  // in the standard's text, at the newest opset
  const char *domain = "com.microsoft";
};
extern const std::vector<MicrosoftBody> kMicrosoftBodies, kMicrosoftAttentions, kMicrosoftStreams, kNchwcBodies;

// Null when the operator has none.
const MicrosoftBody *findMicrosoftBody(const std::string &domain, const std::string &op);
// The operators, as {domain, name}, that become bodies or searches (Search.h).
std::vector<std::pair<std::string, std::string>> expandedOps();
// The call's body; `error` says why there is none.
pb::FunctionProto microsoftFunction(const MicrosoftBody &body, const pb::NodeProto &node, const Scope &scope, bool gatherMatrices,
                                    std::string &error);

std::string textOf(const std::vector<int64_t> &values);  // "[1, 2]"
std::string textOf(float value);
// "name = Constant <…> ()" in the text of bodies.
std::string intsNode(const std::string &name, const std::vector<int64_t> &values);
std::string floatNode(const std::string &name, float value);
std::string transposed(const std::string &to, const std::string &from, const std::vector<int64_t> &perm);
std::vector<int64_t> channelsFirst(int rank), channelsLast(int rank);  // perms of Transpose
extern const char *const kWindowAttributes;                            // of a convolution, as the call has them

}  // namespace onnxc::importer
