// Npy.cpp: see Npy.h. Format: magic, version, header length, a Python dict literal {'descr', 'fortran_order', 'shape'}, raw data.
#include "compiler/commands/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

namespace onnxc {

static llvm::Error bad(llvm::StringRef path, const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "'" + path + "': " + what);
}

namespace {
struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};
}  // namespace

// The text after "'key':" of the header's dict.
static llvm::StringRef field(llvm::StringRef dict, llvm::StringRef key) {
  size_t at = dict.find(("'" + key + "':").str());
  return at == llvm::StringRef::npos ? "" : dict.drop_front(at + key.size() + 3).ltrim();
}

static bool parseHeader(llvm::StringRef dict, Header &header) {
  llvm::StringRef descr = field(dict, "descr"), shape = field(dict, "shape");
  if (!descr.consume_front("'") || !shape.consume_front("("))
    return false;
  header.descr = descr.take_until([](char c) { return c == '\''; }).str();
  header.fortran = field(dict, "fortran_order").starts_with("True");
  llvm::SmallVector<llvm::StringRef> parts;
  shape.take_until([](char c) { return c == ')'; }).split(parts, ',', -1, false);
  int64_t total = 1;
  for (llvm::StringRef p : parts) {
    int64_t d;
    if (p.trim().empty())
      continue;
    if (p.trim().getAsInteger(10, d) || d < 0 || __builtin_mul_overflow(total, d ? d : 1, &total))
      return false;
    header.shape.push_back(d);
  }
  return true;
}

static void readStrings(llvm::StringRef data, int64_t width, Value &v) {
  for (int64_t i = 0, n = v.count(); i < n; ++i) {
    std::string text;
    for (int64_t k = 0; k < width; ++k) {
      uint32_t c;
      memcpy(&c, data.data() + (i * width + k) * 4, 4);
      char buffer[4], *end = buffer;
      if (!c || !llvm::ConvertCodePointToUTF8(c, end))
        break;
      text.append(buffer, end - buffer);
    }
    v.strings.push_back(std::move(text));
  }
}

// `from` is in Fortran order: element (i0, i1, …) lies at i0 + i1·d0 + …
static std::vector<char> toRowMajor(const std::vector<char> &from, const std::vector<int64_t> &dims, int64_t size) {
  std::vector<char> to(from.size());
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t flat = 0, n = from.size() / size; flat < n; ++flat) {
    int64_t source = 0;
    for (size_t d = dims.size(); d-- > 0;)
      source = source * dims[d] + at[d];
    memcpy(to.data() + flat * size, from.data() + source * size, size);
    for (size_t d = dims.size(); d-- > 0 && ++at[d] == dims[d];)
      at[d] = 0;
  }
  return to;
}

// Texts without characters take no bytes of the file.
constexpr int64_t kMostEmptyTexts = 1 << 24;

// Reads the header; what is behind it.
static llvm::Expected<llvm::StringRef> readHeader(llvm::StringRef path, llvm::StringRef file, Header &header) {
  if (file.starts_with("PK\x03\x04"))
    return bad(path, "not a .npy file but a .npz archive of several: unpack it, or save the one array with numpy.save");
  if (!file.starts_with("\x93NUMPY") || file.size() < 12)
    return bad(path, "not a .npy file");
  size_t wide = file[6] >= 2 ? 4 : 2, length = 0;
  memcpy(&length, file.data() + 8, wide);
  if (file.size() < 8 + wide + length)
    return bad(path, "cut short");
  if (!parseHeader(file.substr(8 + wide, length), header))
    return bad(path, "unreadable .npy header");
  return file.drop_front(8 + wide + length);
}

// The number type that the header calls `descr`, by preference the one that is wanted; null: there is none.
static const DType *numberType(llvm::StringRef descr, int32_t wanted) {
  const DType *w = findDType(wanted);
  for (int32_t code = 1; const DType *type = findDType(code); ++code)
    if (descr == type->npy && (type->npy[0] != 'V' || type == w))
      return type;
  return w && w->size == 1 && (descr == "i1" || descr == "u1") ? w : nullptr;
}

// The type that the header says, into `v`; the bytes of an element in `size`.
static llvm::Error readType(llvm::StringRef path, const Header &header, size_t available, int32_t wanted, Value &v, int64_t &size) {
  llvm::StringRef descr = header.descr;
  if (descr.consume_front(">"))
    return bad(path, "its elements are big-endian, '>" + descr + "': save them anew with numpy.save(FILE, array.astype('<" + descr + "'))");
  descr = descr.ltrim("<|=");
  if (!descr.consume_front("U")) {
    const DType *type = numberType(descr, wanted);
    if (!type)
      return bad(path, "holds '" + header.descr + "', a type the model does not take here");
    v.dtype = type->code, size = type->size;
    return llvm::Error::success();
  }
  int64_t width = 0;
  if (descr.getAsInteger(10, width) || width < 0)
    return bad(path, "unreadable type '" + header.descr + "'");
  if (v.count() && (width > int64_t(available / 4) || (width == 0 && v.count() > kMostEmptyTexts)))
    return bad(path, "cut short");
  v.dtype = kStringCode, size = v.count() ? width * 4 : 0;
  return llvm::Error::success();
}

static llvm::Expected<Value> parse(llvm::StringRef path, llvm::StringRef file, int32_t wanted) {
  Header header;
  llvm::Expected<llvm::StringRef> data = readHeader(path, file, header);
  if (!data)
    return data.takeError();
  Value v;
  v.dims = header.shape;
  int64_t size = 0, bytes;
  if (llvm::Error error = readType(path, header, data->size(), wanted, v, size))
    return std::move(error);
  if (__builtin_mul_overflow(v.count(), size, &bytes) || (uint64_t)bytes > data->size())
    return bad(path, "cut short");
  v.bytes.assign(data->begin(), data->begin() + bytes);
  if (header.fortran && v.dims.size() > 1 && size)
    v.bytes = toRowMajor(v.bytes, v.dims, size);
  if (v.dtype == kStringCode) {
    readStrings({v.bytes.data(), v.bytes.size()}, size / 4, v);
    v.bytes.clear();
  }
  return v;
}

llvm::Expected<Value> readNpy(llvm::StringRef path, int32_t wanted) {
  auto file = llvm::MemoryBuffer::getFile(path, false, false);
  if (!file)
    return bad(path, file.getError().message());
  return parse(path, (*file)->getBuffer(), wanted);
}

static std::string headerText(const std::string &descr, const std::vector<int64_t> &dims) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t d : dims)
    text += std::to_string(d) + ", ";
  text += "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  return text + "\n";
}

llvm::Error writeNpy(llvm::StringRef path, const Value &v) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error)
    return bad(path, error.message());
  std::string descr = findDType(v.dtype)->npy;
  std::vector<std::vector<llvm::UTF32>> texts;
  size_t width = 1;
  for (const std::string &s : v.strings) {
    std::vector<llvm::UTF32> wide(s.size());
    const llvm::UTF8 *from = reinterpret_cast<const llvm::UTF8 *>(s.data());
    llvm::UTF32 *to = wide.data();
    llvm::ConvertUTF8toUTF32(&from, from + s.size(), &to, to + wide.size(), llvm::lenientConversion);
    wide.resize(to - wide.data());
    width = std::max(width, wide.size());
    texts.push_back(std::move(wide));
  }
  descr = v.dtype == kStringCode ? "<U" + std::to_string(width) : (descr.back() == '1' ? "|" : "<") + descr;
  std::string header = headerText(descr, v.dims);
  out << llvm::StringRef("\x93NUMPY\x01\x00", 8) << char(header.size() & 255) << char(header.size() >> 8) << header;
  out.write(v.bytes.data(), v.bytes.size());
  for (auto &wide : texts) {
    wide.resize(width);
    out.write(reinterpret_cast<const char *>(wide.data()), width * 4);
  }
  out.close();
  std::error_code failed = out.error();
  out.clear_error();  // said here; the stream would end the program
  return failed ? bad(path, failed.message()) : llvm::Error::success();
}

}  // namespace onnxc
