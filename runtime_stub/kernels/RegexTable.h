// RegexTable.h: where an automaton gets to by ASCII characters, kept as texts ask for it. A row is a set of the automaton's states, which
// Regex.h finds.
#pragma once
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

class RegexTable {
public:
  static constexpr uint32_t characters = 128;
  struct Row {
    Row *to[characters];  // null: not known yet
    int32_t *states, size;
    bool accepts;
  };

  // The row of a set, made where there is none yet; null where there is no room for another.
  Row *find(const onnxc_args *a, const int32_t *states, int32_t size, bool accepts) {
    size_t bytes = size_t(size) * sizeof(int32_t);
    for (int32_t r = 0; r < count; ++r)
      if (rows[r]->size == size && memcmp(rows[r]->states, states, bytes) == 0)
        return rows[r];
    Row *row = count < mostRows && size <= mostStates ? heap<Row>(a, 1) : nullptr;
    if (!row || !(row->states = heap<int32_t>(a, size)))
      return nullptr;
    memcpy(row->states, states, bytes);
    row->size = size, row->accepts = accepts;
    return rows[count++] = row;
  }

private:
  static constexpr int32_t mostRows = 64, mostStates = 256;
  Row *rows[mostRows];
  int32_t count = 0;  // heap() makes it so, too
};

}  // namespace onnxc
