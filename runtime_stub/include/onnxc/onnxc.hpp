// onnxc.hpp: onnxc.h for C++17: sessions that free themselves, arguments by name, errors as exceptions. Header only.
//
//   onnxc::Session session(onnxc_get_api(ONNXC_ABI_VERSION));
//   session.run({onnxc::input("x", pixels.data(), {1, 3, 224, 224})});
//   onnxc::View<const float> y = session.output<float>("y");     // valid until the session's next run
//
// Elements are borrowed while a run lasts, and no argument is kept for the next one.
// A session serves one caller at a time; clone() gives another one of the same model.
#ifndef ONNXC_HPP
#define ONNXC_HPP
#include "onnxc.h"
#include <complex>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace onnxc {

class Error : public std::runtime_error {
public:
  Error(int32_t status, const std::string &message, std::string where = "")
      : std::runtime_error(message), code(status), node(std::move(where)) {}
  int32_t code;
  std::string node;
};

// The onnx.TensorProto.DataType of a C++ type; half and the small types have none and are named by their code.
template <typename T>
constexpr int32_t dtypeOf = 0;
template <>
inline constexpr int32_t dtypeOf<float> = 1;
template <>
inline constexpr int32_t dtypeOf<uint8_t> = 2;
template <>
inline constexpr int32_t dtypeOf<int8_t> = 3;
template <>
inline constexpr int32_t dtypeOf<uint16_t> = 4;
template <>
inline constexpr int32_t dtypeOf<int16_t> = 5;
template <>
inline constexpr int32_t dtypeOf<int32_t> = 6;
template <>
inline constexpr int32_t dtypeOf<int64_t> = 7;
template <>
inline constexpr int32_t dtypeOf<onnxc_string_view> = 8;
template <>
inline constexpr int32_t dtypeOf<bool> = 9;
template <>
inline constexpr int32_t dtypeOf<double> = 11;
template <>
inline constexpr int32_t dtypeOf<uint32_t> = 12;
template <>
inline constexpr int32_t dtypeOf<uint64_t> = 13;
template <>
inline constexpr int32_t dtypeOf<std::complex<float>> = 14;
template <>
inline constexpr int32_t dtypeOf<std::complex<double>> = 15;

// Row-major elements that somebody else owns.
template <typename T>
struct View {
  T *data = nullptr;
  std::vector<int64_t> shape;
  size_t size() const {
    size_t n = 1;
    for (int64_t d : shape)
      n *= size_t(d);
    return n;
  }
  T &operator[](size_t i) const { return data[i]; }
  T *begin() const { return data; }
  T *end() const { return data + size(); }
};

// What an input gets: a tensor, or values inside each other. Copies are cheap.
class Value {
public:
  template <typename T>
  Value(const T *data, std::vector<int64_t> shape, int32_t dtype = dtypeOf<T>) : held(std::make_shared<Held>()) {
    held->shape = std::move(shape);
    value.dtype = dtype, value.tensor.data = const_cast<T *>(data);
    value.tensor.ndim = int32_t(held->shape.size()), value.tensor.shape = held->shape.data();
  }
  // A sequence's items, an optional's one or none, a map's keys and values.
  Value(onnxc_kind kind, std::vector<Value> items) : held(std::make_shared<Held>()) {
    for (const Value &item : items)
      held->values.push_back(item.get());
    held->items = std::move(items);
    value.kind = kind, value.items = held->values.data(), value.count = int64_t(held->values.size());
  }
  Value(const onnxc_value &borrowed) : value(borrowed) {}
  const onnxc_value &get() const { return value; }

private:
  struct Held {
    std::vector<int64_t> shape;
    std::vector<Value> items;
    std::vector<onnxc_value> values;
  };
  std::shared_ptr<Held> held;
  onnxc_value value{};
};

struct Input {
  std::string_view name;
  Value value;
};

template <typename T>
Input input(std::string_view name, const T *data, std::vector<int64_t> shape, int32_t dtype = dtypeOf<T>) {
  return {name, {data, std::move(shape), dtype}};
}
inline Input input(std::string_view name, Value value) { return {name, std::move(value)}; }

struct Options : onnxc_options {
  explicit Options(int32_t threads = 1) : onnxc_options{} { struct_size = sizeof(onnxc_options), num_threads = threads; }
};

class Session {
public:
  explicit Session(const onnxc_api *table, const Options &options = Options()) : api(table) {
    if (!api)
      throw Error(ONNXC_E_ARGUMENT, "the artefact has another version of the ABI");
    onnxc_model *created = nullptr;
    onnxc_error error{};
    check(api->model_create(&options, &created, &error), error);
    model = std::shared_ptr<onnxc_model>(created, api->model_destroy);
    open();
  }
  Session clone() const { return Session(api, model); }
  const onnxc_model_info &info() const { return *api->info(); }

  // Inputs with a default and optionals may be left out.
  void run(const std::vector<Input> &given) {
    onnxc_value absent{};
    absent.dtype = -1;
    inputs.assign(inputs.size(), absent);
    for (const Input &i : given)
      inputs[size_t(find(info().inputs, info().num_inputs, i.name))] = i.value.get();
    for (int32_t i = 0; i < info().num_inputs; ++i)
      if (inputs[size_t(i)].kind == ONNXC_TENSOR && inputs[size_t(i)].dtype == -1)
        leaveOut(i);
    run();
  }
  template <typename T>
  View<const T> output(std::string_view name, int32_t dtype = dtypeOf<T>) const {
    return outputAt<T>(find(info().outputs, info().num_outputs, name), dtype);
  }
  // Every kind of value: sequences, optionals and maps, too.
  const onnxc_value &value(std::string_view name) const { return outputs[size_t(find(info().outputs, info().num_outputs, name))]; }

protected:
  // `shape` is borrowed, too.
  void set(int32_t index, int32_t dtype, const void *data, const std::vector<int64_t> &shape) {
    onnxc_value &v = inputs[size_t(index)] = onnxc_value{};
    v.dtype = dtype, v.tensor.data = const_cast<void *>(data);
    v.tensor.ndim = int32_t(shape.size()), v.tensor.shape = const_cast<int64_t *>(shape.data());
  }
  void run() {
    for (onnxc_value &v : outputs)
      v = onnxc_value{};
    onnxc_error error{};
    check(api->run(context.get(), inputs.data(), int32_t(inputs.size()), outputs.data(), int32_t(outputs.size()), &error), error);
  }
  template <typename T>
  View<const T> outputAt(int32_t index, int32_t dtype) const {
    const onnxc_value &v = outputs[size_t(index)];
    if (v.kind != ONNXC_TENSOR || v.dtype != dtype)
      refuse(v, info().outputs[index].name, dtype);
    return {static_cast<const T *>(v.tensor.data), std::vector<int64_t>(v.tensor.shape, v.tensor.shape + v.tensor.ndim)};
  }

private:
  Session(const onnxc_api *table, std::shared_ptr<onnxc_model> shared) : api(table), model(std::move(shared)) { open(); }
  void open() {
    onnxc_context *created = nullptr;
    onnxc_error error{};
    check(api->context_create(model.get(), nullptr, &created, &error), error);
    context = {created, api->context_destroy};
    inputs.resize(size_t(info().num_inputs)), outputs.resize(size_t(info().num_outputs));
  }
  void leaveOut(int32_t index) {
    const onnxc_model_info &model_info = info();
    const onnxc_io_info &port = model_info.inputs[index];
    const bool tells = model_info.struct_size >= offsetof(onnxc_model_info, defaults) + sizeof model_info.defaults;
    if (port.kind == ONNXC_OPTIONAL)
      inputs[size_t(index)].kind = ONNXC_OPTIONAL;
    else if (!tells || !model_info.defaults || model_info.defaults[index] < 0)
      throw Error(ONNXC_E_ARGUMENT, std::string("input '") + port.name + "' is not given", port.name);
  }
  [[noreturn]] static void refuse(const onnxc_value &v, const std::string &name, int32_t dtype) {
    const std::string output = "output '" + name + "'";
    if (v.kind != ONNXC_TENSOR)
      throw Error(ONNXC_E_DTYPE, output + " is no tensor: value() gives it", name);
    if (!v.dtype)
      throw Error(ONNXC_E_ARGUMENT, output + ": no run has filled it", name);
    throw Error(ONNXC_E_DTYPE, output + " is " + onnxc_dtype_name(v.dtype) + ", not " + onnxc_dtype_name(dtype), name);
  }
  static void check(int32_t status, const onnxc_error &error) {
    if (status)
      throw Error(status, error.message, error.node);
  }
  static int32_t find(const onnxc_io_info *ports, int32_t count, std::string_view name) {
    for (int32_t i = 0; i < count; ++i)
      if (name == ports[i].name)
        return i;
    throw Error(ONNXC_E_ARGUMENT, "the model has no value '" + std::string(name) + "'", std::string(name));
  }

  const onnxc_api *api;
  std::shared_ptr<onnxc_model> model;
  std::unique_ptr<onnxc_context, void (*)(onnxc_context *)> context{nullptr, nullptr};
  std::vector<onnxc_value> inputs, outputs;
};

}  // namespace onnxc
#endif
