// RegexClasses.h: the classes of characters that regular expressions know by name. Used by Regex.h.
#pragma once
#include "runtime_stub/kernels/Unicode.h"
#include "runtime_stub/kernels/UnicodeCategory.h"

namespace onnxc {

// [:alnum:] and the like: pairs of bounds up to one that ends at 0.
struct NamedClass {
  char name[8];
  uint8_t bounds[8];
};
constexpr NamedClass posixClasses[] = {{"alnum", {'0', '9', 'A', 'Z', 'a', 'z'}},
                                       {"alpha", {'A', 'Z', 'a', 'z'}},
                                       {"ascii", {0, 127}},
                                       {"blank", {'\t', '\t', ' ', ' '}},
                                       {"cntrl", {0, 31, 127, 127}},
                                       {"digit", {'0', '9'}},
                                       {"graph", {'!', '~'}},
                                       {"lower", {'a', 'z'}},
                                       {"print", {' ', '~'}},
                                       {"punct", {'!', '/', ':', '@', '[', '`', '{', '~'}},
                                       {"space", {'\t', '\r', ' ', ' '}},
                                       {"upper", {'A', 'Z'}},
                                       {"word", {'0', '9', 'A', 'Z', 'a', 'z', '_', '_'}},
                                       {"xdigit", {'0', '9', 'A', 'F', 'a', 'f'}}};

inline bool isWord(uint32_t c) { return c == '_' || within(c, '0', '9') || within(c, 'a', 'z') || within(c, 'A', 'Z'); }

// RE2 has no name for what is not assigned, and C does not hold it.
inline bool isCategory(Str name, uint32_t category) {
  const char *own = categoryNames + 2 * category;
  return category != unassigned && name.size >= 1 && name.size <= 2 && name.data[0] == own[0] && (name.size == 1 || name.data[1] == own[1]);
}

}  // namespace onnxc
