// Regex.h: RE2's regular expressions compiled to a nondeterministic automaton and run on code points in time O(text × pattern),
// on ASCII through a table of its sets of states where no position is looked at (RegexTable.h).
// Used by RegexFullMatch and Tokenizer (Regex.cpp). Captures are parsed, not recorded; unknown syntax makes compile() fail.
#pragma once
#include "runtime_stub/kernels/RegexClasses.h"
#include "runtime_stub/kernels/RegexTable.h"

namespace onnxc {

class Regex {
public:
  enum Op : uint8_t { Any, AnyButNewline, Set, NotSet, Split, Jump, Begin, End, LineBegin, LineEnd, Word, NotWord, Match };
  struct Inst {
    Op op;
    int32_t x, y;
  };  // Set: ranges [x, y); Split: to x and y; Jump: to x; relative to itself
  struct Range {
    uint32_t lo, hi;
  };

  // What most patterns need is little; a run pays for the room of others only where it has one.
  int32_t compile(const Args *args, Str source) {
    a = args;
    pattern = source;
    int32_t small = source.size < most / perCharacter ? int32_t(source.size + 1) * perCharacter : most;
    int32_t code = compileWithin(small);
    return code == ONNXC_K_VALUE && full && small < most ? compileWithin(most) : code;
  }

  // End of the longest match that starts at `from`, or -1. `full`: only a match of all of the text counts.
  int64_t match(Str text, int64_t from, bool full) {
    int64_t best = -1, i = from;
    RegexTable::Row *row = firstSet;
    for (; row && row->size; ++i) {
      if (row->accepts && (!full || i == text.size))
        best = i;
      if (i == text.size)
        return best;
      uint8_t c = uint8_t(text.data[i]);
      if (c >= RegexTable::characters)
        return matchAny(text, from, full);
      if (!row->to[c])
        row->to[c] = step(*row, c);
      row = row->to[c];
    }
    return row ? best : matchAny(text, from, full);
  }

private:
  // match() without the table.
  int64_t matchAny(Str text, int64_t from, bool full) {
    int64_t best = -1, i = from;
    now.size = 0;
    uint32_t before = from ? previous(text, from) : none;
    int64_t ahead = i;
    uint32_t c = i < text.size ? decodeUtf8(text, ahead) : none;
    add(now, 0, before, c, ++tick);
    while (now.size) {
      next.size = 0;
      int64_t after = ahead;
      uint32_t following = c != none && after < text.size ? decodeUtf8(text, after) : none;
      ++tick;
      for (int32_t k = 0; k < now.size; ++k) {
        const Inst &inst = insts[now.state[k]];
        if (inst.op == Match) {
          if (!full || i == text.size)
            best = i;
        } else if (c != none && accepts(inst, c)) {
          add(next, now.state[k] + 1, c, following, tick);
        }
      }
      if (c == none)
        break;
      List t = now;
      now = next, next = t;
      i = ahead, ahead = after, c = following;
    }
    return best;
  }

  static constexpr int32_t most = 20000, perCharacter = 16, maxDepth = 200;
  static constexpr uint32_t none = 0xffffffff, last = 0x10ffff;
  struct List {
    int32_t *state;
    int64_t *seen;
    int32_t size;
  };
  struct Flags {
    bool fold, dotAll, lines;
  } flags;
  const Args *a;
  Str pattern;
  int64_t at, tick = 0;
  Inst *insts;
  Range *ranges;
  int32_t limit, count, rangeCount, *stack = nullptr;  // `limit`: of instructions and of ranges
  bool failed, full;
  List now{}, next{};
  RegexTable table;
  RegexTable::Row *firstSet;  // firstRow()

  // ---- running
  bool makeRoom(List &list) const { return (list.state = heap<int32_t>(a, count)) && (list.seen = heap<int64_t>(a, count)); }
  static uint32_t previous(Str text, int64_t i) {
    do
      --i;
    while (i > 0 && (uint8_t(text.data[i]) & 0xc0) == 0x80);
    return decodeUtf8(text, i);
  }
  bool accepts(const Inst &inst, uint32_t c) const {
    if (inst.op == Any)
      return true;
    if (inst.op == AnyButNewline)
      return c != '\n';
    int32_t at = inst.x, end = inst.y;  // of the first range that does not end before c
    while (at < end)
      if (int32_t middle = at + (end - at) / 2; ranges[middle].hi < c)
        at = middle + 1;
      else
        end = middle;
    return (at < inst.y && ranges[at].lo <= c) == (inst.op == Set);
  }
  static bool holds(Op op, uint32_t before, uint32_t after) {
    switch (op) {
    case Begin:
      return before == none;
    case End:
      return after == none;
    case LineBegin:
      return before == none || before == '\n';
    case LineEnd:
      return after == none || after == '\n';
    default:
      return ((before != none && isWord(before)) != (after != none && isWord(after))) == (op == Word);
    }
  }
  // The row of the states in `now`, which stand behind one character or before all.
  RegexTable::Row *rowOfNow() {
    bool accepts = false;
    for (int32_t k = 0; k < now.size; ++k)
      accepts |= insts[now.state[k]].op == Match;
    return table.find(a, now.state, now.size, accepts);
  }
  RegexTable::Row *step(const RegexTable::Row &row, uint32_t c) {
    now.size = 0;
    ++tick;
    for (int32_t k = 0; k < row.size; ++k)
      if (insts[row.states[k]].op != Match && accepts(insts[row.states[k]], c))
        add(now, row.states[k] + 1, none, none, tick);
    return rowOfNow();
  }
  // The first row of the table; null where a position matters, which a set of states does not know.
  RegexTable::Row *firstRow() {
    for (int32_t k = 0; k < count; ++k)
      if (insts[k].op >= Begin && insts[k].op != Match)
        return nullptr;
    now.size = 0;
    add(now, 0, none, none, ++tick);
    return rowOfNow();
  }
  // Follows the empty moves from `start`; `mark` says which states the list has.
  void add(List &list, int32_t start, uint32_t before, uint32_t after, int64_t mark) {
    int32_t depth = 0;
    for (stack[depth++] = start; depth;) {
      int32_t s = stack[--depth];
      if (list.seen[s] == mark)
        continue;
      list.seen[s] = mark;
      const Inst &inst = insts[s];
      if (inst.op == Split)
        stack[depth++] = s + inst.y, stack[depth++] = s + inst.x;
      else if (inst.op == Jump)
        stack[depth++] = s + inst.x;
      else if (inst.op < Begin || inst.op == Match)
        list.state[list.size++] = s;
      else if (holds(inst.op, before, after))
        stack[depth++] = s + 1;
    }
  }

  // ---- compiling
  int32_t compileWithin(int32_t room) {
    limit = room, count = rangeCount = 0, failed = full = false;
    at = 0;
    insts = heap<Inst>(a, limit + 1), ranges = heap<Range>(a, limit);
    if (!insts || !ranges)
      return ONNXC_K_MEMORY;
    flags = {false, false, false};
    alternation(0);
    if (at != pattern.size)
      failed = true;
    emit(Match, 0, 0);
    if (failed)
      return ONNXC_K_VALUE;
    stack = heap<int32_t>(a, 2 * count + 2);
    if (!stack || !makeRoom(now) || !makeRoom(next))
      return ONNXC_K_MEMORY;
    firstSet = firstRow();
    return ONNXC_K_OK;
  }
  bool more() const { return at < pattern.size && !failed; }
  char peek() const { return pattern.data[at]; }
  bool take(char c) { return more() && peek() == c ? ++at, true : false; }
  int32_t emit(Op op, int32_t x, int32_t y) {
    if (count >= limit)
      return failed = full = true, 0;
    insts[count] = {op, x, y};
    return count++;
  }
  void range(uint32_t lo, uint32_t hi) {
    if (rangeCount >= limit) {
      failed = full = true;
      return;
    }
    ranges[rangeCount++] = {lo, hi};
  }
  // Adds the other cases of the ranges from `from` on, and theirs in turn: k, K and the Kelvin sign are one letter.
  void foldRanges(int32_t from) {
    for (int32_t r = from; flags.fold && r < rangeCount && !failed; ++r)
      eachOtherCase(ranges[r].lo, ranges[r].hi, [&](uint32_t lo, uint32_t hi) {
        bool known = false;
        for (int32_t k = from; k < rangeCount && !known; ++k)
          known = ranges[k].lo <= lo && hi <= ranges[k].hi;
        if (!known)
          range(lo, hi);
      });
  }
  // Puts the ranges from `from` on in order, none touching the next.
  void settle(int32_t from) {
    for (int32_t r = from + 1; r < rangeCount; ++r)
      for (int32_t k = r; k > from && ranges[k].lo < ranges[k - 1].lo; --k) {
        Range other = ranges[k];
        ranges[k] = ranges[k - 1], ranges[k - 1] = other;
      }
    int32_t last = from;
    for (int32_t r = from + 1; r < rangeCount; ++r)
      if (ranges[r].lo > ranges[last].hi + 1)
        ranges[++last] = ranges[r];
      else if (ranges[r].hi > ranges[last].hi)
        ranges[last].hi = ranges[r].hi;
    rangeCount = rangeCount > from ? last + 1 : from;
  }
  void emitSet(Op op, int32_t from) {
    foldRanges(from);
    settle(from);
    emit(op, from, rangeCount);
  }
  void literal(uint32_t c) {
    int32_t from = rangeCount;
    range(c, c);
    emitSet(Set, from);
  }

  void alternation(int depth) {
    if (depth > maxDepth) {
      failed = true;
      return;
    }
    for (int32_t first = count, jumps = -1;; first = count) {
      while (more() && peek() != '|' && peek() != ')')
        repetition(depth);
      bool another = more() && peek() == '|';
      if (another) {
        ++at;
        insertSplit(first, count + 2 - first);
        jumps = emit(Jump, 0, jumps);
        continue;
      }
      while (jumps >= 0 && !failed) {
        int32_t before = insts[jumps].y;
        insts[jumps] = {Jump, count - jumps, 0};
        jumps = before;
      }
      return;
    }
  }

  // The code from `where` on moves behind a Split that runs it or skips `skip` instructions.
  void insertSplit(int32_t where, int32_t skip) {
    emit(Split, 0, 0);
    if (failed)
      return;
    memmove(insts + where + 1, insts + where, size_t(count - 1 - where) * sizeof(Inst));
    insts[where] = {Split, 1, skip};
  }

  void repetition(int depth) {
    int32_t code = count, least, greatest;
    atom(depth);
    if (!more() || !quantifier(least, greatest))
      return;
    take('?');  // lazy or greedy: the language is the same
    if (int32_t lower, upper; more() && quantifier(lower, upper))
      failed = true;  // RE2: bad repetition operator
    int32_t length = count - code;
    if (!failed && int64_t(length + 2) * ((greatest < 0 ? least : greatest) + 1) > limit - count)
      failed = full = true;
    if (failed)
      return;
    Inst *body = insts + count;  // a copy above everything this emits
    body += int64_t(length + 2) * (greatest < 0 ? least : greatest);
    memcpy(body, insts + code, size_t(length) * sizeof(Inst));
    count = code;
    for (int32_t i = 0; i < least; ++i)
      append(body, length);
    if (greatest < 0) {
      emit(Split, 1, length + 2);
      append(body, length);
      emit(Jump, -(length + 1), 0);
    }
    for (int32_t left = greatest - least; left > 0; --left) {
      int32_t end = left * (length + 1);
      emit(Split, 1, end);
      append(body, length);
    }
  }
  void append(const Inst *body, int32_t length) {
    memmove(insts + count, body, size_t(length) * sizeof(Inst));
    count += length;
  }
  bool quantifier(int32_t &least, int32_t &greatest) {
    if (take('*'))
      return least = 0, greatest = -1, true;
    if (take('+'))
      return least = 1, greatest = -1, true;
    if (take('?'))
      return least = 0, greatest = 1, true;
    int64_t back = at;
    if (take('{') && number(least)) {
      greatest = least;
      if (take(',')) {
        greatest = -1;
        if (more() && within(uint32_t(peek()), '0', '9'))
          number(greatest);
      }
      if (take('}')) {
        if (least > 1000 || greatest > 1000 || (greatest >= 0 && greatest < least))
          failed = true;
        return true;
      }
    }
    at = back;
    return false;
  }
  bool number(int32_t &n) {
    int64_t from = at;
    for (n = 0; more() && within(uint32_t(peek()), '0', '9') && n < 100000; ++at)
      n = n * 10 + (peek() - '0');
    return at > from;
  }

  void atom(int depth) {
    char c = peek();
    if (c == '(')
      return ++at, group(depth);
    if (c == '[')
      return ++at, bracket();
    if (c == '\\')
      return ++at, escape();
    if (int32_t least, greatest; quantifier(least, greatest)) {
      failed = true;  // nothing to repeat
      return;
    }
    if (c == '.')
      return ++at, void(emit(flags.dotAll ? Any : AnyButNewline, 0, 0));
    if (c == '^')
      return ++at, void(emit(flags.lines ? LineBegin : Begin, 0, 0));
    if (c == '$')
      return ++at, void(emit(flags.lines ? LineEnd : End, 0, 0));
    literal(decodeUtf8(pattern, at));
  }

  void group(int depth) {
    Flags outer = flags;
    if (take('?')) {
      bool named = take('P');
      if (take('<') || named) {
        while (more() && peek() != '>')
          ++at;
        if (!take('>'))
          failed = true;
      } else {
        bool on = true;
        for (; more() && peek() != ':' && peek() != ')'; ++at) {
          char c = peek();
          if (c == '-' && on && at + 1 < pattern.size && pattern.data[at + 1] != ':' && pattern.data[at + 1] != ')')
            on = false;
          else if (c == 'i')
            flags.fold = on;
          else if (c == 's')
            flags.dotAll = on;
          else if (c == 'm')
            flags.lines = on;
          else if (c != 'U')
            failed = true;
        }
        if (take(')'))
          return;  // (?i) holds to the end of the enclosing group
        if (!take(':'))
          failed = true;
      }
    }
    alternation(depth + 1);
    if (!take(')'))
      failed = true;
    flags = outer;
  }

  void escape() {
    if (!more()) {
      failed = true;
      return;
    }
    char c = peek();
    int32_t from = rangeCount;
    ++at;
    if (c == 'A')
      return void(emit(Begin, 0, 0));
    if (c == 'z')
      return void(emit(End, 0, 0));
    if (c == 'b')
      return void(emit(Word, 0, 0));
    if (c == 'B')
      return void(emit(NotWord, 0, 0));
    if (c == 'Q')
      return quoted();
    --at;
    if (shorthand())
      return emitSet(Set, from);
    literal(escapedCharacter());
  }

  void quoted() {
    while (more() && !(peek() == '\\' && at + 1 < pattern.size && pattern.data[at + 1] == 'E'))
      literal(decodeUtf8(pattern, at));
    if (more())
      at += 2;
  }

  // \d, \pL and the like at `at`: adds the class to the ranges.
  bool shorthand() {
    char c = peek(), lower = lowerAscii(c);
    int32_t own = rangeCount;
    bool negated = c != lower;
    if (lower == 'p') {
      ++at;
      negated ^= unicodeClass();
    } else if (lower == 'd' || lower == 's' || lower == 'w') {
      ++at;
      if (lower == 's')
        range('\t', '\n'), range('\f', '\r'), range(' ', ' ');
      if (lower != 's')
        range('0', '9');
      if (lower == 'w')
        range('A', 'Z'), range('_', '_'), range('a', 'z');
    } else {
      return false;
    }
    if (negated)
      complement(own);
    return true;
  }

  uint32_t escapedCharacter() {
    char c = peek();
    const char *from = "abfnrtv", *to = "\a\b\f\n\r\t\v";
    for (int i = 0; from[i]; ++i)
      if (c == from[i] && c != 'b')
        return ++at, uint32_t(to[i]);
    if (c == 'x')
      return ++at, hexadecimal();
    bool number = c == '0' || (at + 1 < pattern.size && within(uint32_t(pattern.data[at + 1]), '0', '7'));  // else a back reference
    if (within(uint32_t(c), '0', '7') && number) {
      uint32_t v = 0;
      for (int n = 0; n < 3 && more() && within(uint32_t(peek()), '0', '7'); ++n, ++at)
        v = v * 8 + uint32_t(peek() - '0');
      return v;
    }
    if (uint8_t(c) >= 0x80 || (isWord(uint32_t(c)) && c != '_'))
      failed = true;
    return decodeUtf8(pattern, at);
  }
  uint32_t hexadecimal() {
    bool braced = take('{');
    uint32_t v = 0;
    int n = 0;
    for (; n < (braced ? 6 : 2) && more(); ++n, ++at) {
      char c = lowerAscii(peek());
      if (!within(uint32_t(c), '0', '9') && !within(uint32_t(c), 'a', 'f'))
        break;
      v = v * 16 + uint32_t(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    if (n < (braced ? 1 : 2) || (braced && !take('}')) || v > last)
      failed = true;
    return v;
  }

  void bracket() {
    bool negated = take('^');
    int32_t from = rangeCount;
    for (bool first = true; more() && (first || peek() != ']'); first = false) {
      if (peek() == '[' && at + 1 < pattern.size && pattern.data[at + 1] == ':') {
        posix();
        continue;
      }
      if (peek() == '\\' && at + 1 < pattern.size) {
        ++at;
        if (shorthand())
          continue;
        --at;
      }
      uint32_t lo = bracketCharacter(), hi = lo;
      if (at + 1 < pattern.size && peek() == '-' && pattern.data[at + 1] != ']')
        ++at, hi = bracketCharacter();
      if (hi < lo)
        failed = true;
      range(lo, hi);
    }
    if (!take(']'))
      failed = true;
    emitSet(negated ? NotSet : Set, from);
  }
  uint32_t bracketCharacter() {
    if (!more())
      return failed = true, 0;
    if (take('\\'))
      return more() ? escapedCharacter() : (failed = true, 0);
    return decodeUtf8(pattern, at);
  }

  void posix() {
    at += 2;
    bool negated = take('^');
    int64_t start = at;
    while (more() && peek() != ':')
      ++at;
    Str name = {pattern.data + start, at - start};
    if (!take(':') || !take(']'))
      failed = true;
    int32_t own = rangeCount;
    for (const NamedClass &k : posixClasses)
      if (is(name, k.name))
        for (int i = 0; i < 8 && k.bounds[i + 1]; i += 2)
          range(k.bounds[i], k.bounds[i + 1]);
    if (own == rangeCount)
      failed = true;
    if (negated)
      complement(own);
  }

  // \pL, \p{Lu}, \p{^Lu}, \p{Any} at the letter or brace: general categories. True where the class is negated.
  bool unicodeClass() {
    bool braced = take('{'), negated = braced && take('^');
    int64_t start = at;
    if (braced)
      while (more() && peek() != '}')
        ++at;
    else if (more())
      ++at;
    Str name = {pattern.data + start, at - start};
    if (braced && !take('}'))
      failed = true;
    int32_t own = rangeCount;
    constexpr int32_t runs = sizeof(categoryRuns) / sizeof(*categoryRuns);
    for (int32_t r = 0; r < runs; ++r)
      if (isCategory(name, categoryRuns[r] & 31))
        range(categoryRuns[r] >> 5, r + 1 < runs ? (categoryRuns[r + 1] >> 5) - 1 : last);
    if (is(name, "Any"))
      range(0, last);
    if (own == rangeCount)
      failed = true;  // a script, or nothing
    return negated;
  }

  // Replaces the ranges from `from` on, with their other cases, by the characters they do not hold.
  void complement(int32_t from) {
    foldRanges(from);
    settle(from);
    uint32_t lo = 0;
    int32_t count = from, end = rangeCount;
    for (int32_t r = from; r < end; ++r) {
      Range inside = ranges[r];
      if (inside.lo > lo)
        ranges[count++] = {lo, inside.lo - 1};
      lo = inside.hi + 1;
    }
    rangeCount = count;
    if (lo <= last)
      range(lo, last);
  }
};

}  // namespace onnxc
