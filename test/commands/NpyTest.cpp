// Reading and writing .npy files: every type survives, and files that are not what they say are errors.
#include "compiler/commands/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace onnxc;

namespace {
struct TemporaryFile {
  llvm::SmallString<128> path;
  TemporaryFile() { REQUIRE(!llvm::sys::fs::createTemporaryFile("onnxc", "npy", path)); }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
  void write(llvm::StringRef text) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    REQUIRE(!error);
  }
};
}  // namespace

static std::string npy(const std::string &dict, const std::string &data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += char(dict.size() & 255);
  text += char(dict.size() >> 8);
  return text + dict + data;
}

static std::string errorOf(const std::string &file, int32_t wanted = 1) {
  TemporaryFile f;
  f.write(file);
  llvm::Expected<Value> v = readNpy(f.path, wanted);
  REQUIRE(!v);
  return llvm::toString(v.takeError());
}

TEST_CASE("strings in Fortran order are read row by row") {
  auto letter = [](char c) { return std::string{c, 0, 0, 0}; };
  TemporaryFile f;
  f.write(npy("{'descr': '<U1', 'fortran_order': True, 'shape': (2, 2), }", letter('a') + letter('c') + letter('b') + letter('d')));
  llvm::Expected<Value> v = readNpy(f.path, kStringCode);
  REQUIRE(bool(v));
  CHECK(v->strings == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("every numeric type survives writing and reading") {
  for (int32_t code = 1; findDType(code); ++code) {
    if (code == kStringCode)
      continue;
    Value v;
    v.dtype = code;
    v.dims = {3, 5};
    v.bytes.resize(15 * findDType(code)->size);
    for (size_t i = 0; i < v.bytes.size(); ++i)
      v.bytes[i] = char(i * 37);
    TemporaryFile f;
    REQUIRE(!writeNpy(f.path, v));
    llvm::Expected<Value> back = readNpy(f.path, code);
    REQUIRE(bool(back));
    CHECK(back->dtype == code);
    CHECK(back->dims == v.dims);
    CHECK(back->bytes == v.bytes);
  }
}

TEST_CASE("strings, scalars and empty tensors survive") {
  Value v;
  v.dtype = kStringCode;
  v.dims = {3};
  v.strings = {"", "na\xc3\xafve", "\xf0\x9f\x99\x82 ok"};
  TemporaryFile f;
  REQUIRE(!writeNpy(f.path, v));
  CHECK(llvm::cantFail(readNpy(f.path, kStringCode)).strings == v.strings);
  Value scalar;
  scalar.bytes.resize(4);
  REQUIRE(!writeNpy(f.path, scalar));
  CHECK(llvm::cantFail(readNpy(f.path, 1)).dims.empty());
  Value empty;
  empty.dims = {0, 7};
  REQUIRE(!writeNpy(f.path, empty));
  CHECK(llvm::cantFail(readNpy(f.path, 1)).dims == empty.dims);
}

TEST_CASE("Fortran order becomes row-major") {
  TemporaryFile f;
  f.write(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", std::string("\x00\x03\x01\x04\x02\x05", 6)));
  Value v = llvm::cantFail(readNpy(f.path, 2));
  CHECK(v.bytes == std::vector<char>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("no texts take no bytes") {
  TemporaryFile f;
  f.write(npy("{'descr': '<U1', 'fortran_order': False, 'shape': (0,), }\n", ""));
  CHECK(llvm::cantFail(readNpy(f.path, kStringCode)).dims == std::vector<int64_t>{0});
}

TEST_CASE("bad files are errors that name the file") {
  CHECK_THAT(errorOf(""), Catch::Contains("not a .npy file"));
  CHECK_THAT(errorOf(npy("{}", "")), Catch::Contains("unreadable .npy header"));
  CHECK_THAT(errorOf(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "abcd")),
             Catch::EndsWith("its elements are big-endian, '>f4': save them anew with numpy.save(FILE, array.astype('<f4'))"));
  CHECK_THAT(errorOf(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "abcd")), Catch::Contains("'|O'"));
  CHECK_THAT(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abcd")), Catch::Contains("cut short"));
  CHECK_THAT(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904), }", "")),
             Catch::Contains("unreadable .npy header"));
  CHECK_THAT(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,), }", "")), Catch::Contains("cut short"));
  CHECK_THAT(errorOf(npy("{'descr': '<U4611686018427387905', 'fortran_order': False, 'shape': (1,), }", std::string("A\0\0\0", 4))),
             Catch::Contains("cut short"));
  CHECK_THAT(errorOf(npy("{'descr': '<U0', 'fortran_order': False, 'shape': (4611686018427387904,), }", "")), Catch::Contains("cut short"));
}
