// Upgrade.h: rewriting of one node to the newest opset. Upgrade.cpp holds the table and the helpers, Upgrade*.cpp beside it the rewrites;
// Walk.cpp calls it.
#pragma once
#include "compiler/import/Walk.h"
#include <initializer_list>

namespace onnxc::importer {

// A node under rewriting. New nodes come before it, after detach() behind it.
class Rewrite {
public:
  Rewrite(Walker &walker, const Scope &scope, pb::NodeProto &node, int version)
      : node(node), version(version), scope(scope), walker(walker) {}

  pb::NodeProto &node;
  int version;  // the opset the node is written in; a rewrite to another op or domain changes it
  const Scope &scope;
  Walker &walker;

  // Attributes of the node; get* give `otherwise` when absent, take* also remove.
  bool has(const char *name) const;
  int64_t getInt(const char *name, int64_t otherwise) const;
  int64_t takeInt(const char *name, int64_t otherwise);
  float takeFloat(const char *name, float otherwise);
  std::vector<int64_t> takeInts(const char *name);
  std::vector<float> takeFloats(const char *name);
  std::string takeString(const char *name, const std::string &otherwise);
  void erase(const char *name);
  void setInt(const char *name, int64_t value);
  void setFloat(const char *name, float value);
  void setString(const char *name, const std::string &value);
  void setInts(const char *name, const std::vector<int64_t> &values);

  // Operands. `setInput` fills absent ones before it with "".
  std::string input(int index) const;
  void setInput(int index, const std::string &name);
  bool hasOutput(int index) const;

  // New nodes; each gives the name of its result.
  std::string ints(const std::vector<int64_t> &values);  // int64 vector
  std::string scalarInt(int64_t value);
  std::string scalarLike(const std::string &other, double value);  // a scalar of the other's element type
  std::string floats(const std::vector<float> &values);
  std::string emit(const char *op, const std::vector<std::string> &inputs, const std::string &result = "");
  std::string constant(pb::TensorProto &&value);
  pb::NodeProto &last() { return (afterNode ? follow : added).back(); }  // the node emitted last, for its attributes

  std::string freshName(const std::string &hint) { return walker.fresh(hint); }

  // The node goes; its results must have been given to emitted nodes.
  void drop() { dropped = true; }
  // Result `index`, which the node may lack, gets a new name; nodes emitted from now on come behind the node, and one of them must make the
  // old name, which is returned.
  std::string detach(int index);

  // The rewrite is impossible for this node.
  void fail(const std::string &why) { error = why; }

  std::vector<pb::NodeProto> added, follow;
  bool dropped = false, afterNode = false;
  std::string error;
};

// Sets an attribute on any node.
void setInt(pb::NodeProto &node, const char *name, int64_t value);
void setInts(pb::NodeProto &node, const char *name, const std::vector<int64_t> &values);
void setString(pb::NodeProto &node, const char *name, const std::string &value);
void setFloat(pb::NodeProto &node, const char *name, float value);
const pb::AttributeProto *findAttr(const pb::NodeProto &node, llvm::StringRef name);
int64_t intAttr(const pb::NodeProto &node, const char *name, int64_t otherwise);
// What to say of an attribute that is not `plain`, which it is when absent: its other values mean what onnxc does not have. "" when it is.
std::string notPlainError(const pb::NodeProto &node, const char *name, int64_t plain);

struct Upgrade {
  const char *op;
  int below;  // applies to nodes written in an opset below this one
  void (*rewrite)(Rewrite &);
};

// Tables, each in the order its rows apply.
extern const std::vector<Upgrade> kUpgradesShape, kUpgradesMath, kUpgradesNN, kUpgradesML;

// Replaces `node` by `out` at the newest opset. False: `error` says why not.
bool upgradeNode(Walker &walker, const Scope &scope, pb::NodeProto &node, int version, std::vector<pb::NodeProto> &out, std::string &error);

}  // namespace onnxc::importer
