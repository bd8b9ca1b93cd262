// Wire.cpp: the skimmer of Wire.h. Messages below kPayloadBytes cannot hold a payload and are copied as they are.
#include "compiler/import/Wire.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using llvm::StringRef;
namespace onnxc::importer {
namespace {

// Each subgraph is four messages deep (graph, node, attribute, and back), protobuf itself stops at a similar depth.
constexpr int kMaxDepth = 400;

enum Kind { Model, Graph, Node, Attribute, Tensor, Sparse, Function, Opaque, Dropped, Payload };

// What a length-delimited field of a message is.
Kind fieldKind(Kind parent, uint64_t field) {
  switch (parent) {
  case Model:
    return field == 7 ? Graph : field == 25 ? Function : field == 20 ? Dropped : Opaque;
  case Graph:
    return field == 1 ? Node : field == 5 ? Tensor : field == 15 ? Sparse : Opaque;
  case Node:
    return field == 5 ? Attribute : Opaque;
  case Attribute:
    return field == 5 || field == 10 ? Tensor : field == 6 || field == 11 ? Graph : field == 22 || field == 23 ? Sparse : Opaque;
  case Sparse:
    return field == 1 || field == 2 ? Tensor : Opaque;
  case Function:
    return field == 7 ? Node : field == 11 ? Attribute : Opaque;
  case Tensor:
    return field == 9 ? Payload : Opaque;
  default:
    return Opaque;
  }
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

// A length-delimited field.
void appendField(std::string &out, uint64_t field, StringRef bytes) {
  appendVarint(out, field << 3 | 2);
  appendVarint(out, bytes.size());
  out.append(bytes.data(), bytes.size());
}

class Skimmer {
public:
  Skimmer(StringRef file, std::string &error) : file(file), error(error) {}

  bool message(Kind kind, uint64_t begin, uint64_t end, int depth, std::string &out) {
    if (depth > kMaxDepth)
      return fail(begin, "messages are nested too deeply");
    for (uint64_t pos = begin; pos < end;) {
      uint64_t start = pos, tag = 0, length = 0;
      if (!varint(pos, end, tag))
        return false;
      if (tag >> 3 == 0 || tag >> 3 > 536870911)
        return fail(start, "field number out of range");
      if ((tag & 7) != 2) {
        if (!skip(tag & 7, pos, end))
          return false;
        out.append(file.data() + start, pos - start);
        continue;
      }
      if (!varint(pos, end, length))
        return false;
      if (length > end - pos)
        return fail(start, "a field is longer than what holds it (truncated file?)");
      if (!delimited(fieldKind(kind, tag >> 3), tag >> 3, start, pos, length, depth, out))
        return false;
      pos += length;
    }
    return true;
  }

private:
  bool delimited(Kind kind, uint64_t field, uint64_t start, uint64_t pos, uint64_t length, int depth, std::string &out) {
    if (kind == Dropped)
      return true;
    if (kind == Opaque || length < kPayloadBytes) {
      out.append(file.data() + start, pos + length - start);
      return true;
    }
    std::string inner;
    if (kind == Payload) {
      std::string place = llvm::utostr(pos) + "," + llvm::utostr(length);
      appendField(inner, 1, kPayloadKey);
      appendField(inner, 2, place);
      appendField(out, 13, inner);
      return true;
    }
    if (!message(kind, pos, pos + length, depth + 1, inner))
      return false;
    appendField(out, field, inner);
    return true;
  }

  bool varint(uint64_t &pos, uint64_t end, uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (pos >= end)
        return fail(pos, "a number is cut off");
      uint8_t byte = file[pos++];
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return fail(pos, "a number is longer than ten bytes");
  }

  bool skip(unsigned wireType, uint64_t &pos, uint64_t end) {
    uint64_t value = 0;
    if (wireType == 0)
      return varint(pos, end, value);
    if (wireType != 1 && wireType != 5)
      return fail(pos, "unknown wire type");
    uint64_t size = wireType == 1 ? 8 : 4;
    if (end - pos < size)
      return fail(pos, "a number is cut off");
    pos += size;
    return true;
  }

  bool fail(uint64_t pos, const char *what) {
    error = (llvm::Twine(what) + " at byte " + llvm::Twine(pos)).str();
    return false;
  }

  StringRef file;
  std::string &error;
};
}  // namespace

bool skim(StringRef model, std::string &skeleton, std::string &error) {
  return Skimmer(model, error).message(Model, 0, model.size(), 0, skeleton);
}

}  // namespace onnxc::importer
