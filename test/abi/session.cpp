// session.cpp: what a session of onnxc.hpp takes, run by `sessions_of_cpp` in run.py with the model and its headers that run.py makes.
// y = x + d + s[0], x, d: float [2], d has a default of 10, s: a sequence; has = whether o is there; v = m's values at "a" and "b".
#include "model.hpp"
#include <iostream>
#include <thread>
#include <type_traits>
#include <vector>

using onnxc::input;
using onnxc::Value;

// The words of the error that `body` throws.
template <typename Body>
static std::string refusal(Body body) {
  try {
    body();
  } catch (const onnxc::Error &error) {
    return error.what();
  }
  return "no error";
}

static int failed = 0;
static void expect(const char *what, bool good) {
  if (!good)
    std::cout << what << '\n';
  failed += !good;
}

int main() {
  onnxc_models::model::Session session;
  expect("a result before the first run", refusal([&] { session.output<float>("y"); }) == "output 'y': no run has filled it");
  const std::vector<float> x = {1, 2}, d = {100, 200}, item = {1000, 2000}, values = {3, 4};
  const std::vector<onnxc_string_view> names = {{"b", 1}, {"a", 1}};
  const Value xs(x.data(), {2}), ds(d.data(), {2}), sequence(ONNXC_SEQUENCE, {Value(item.data(), {2}), xs});
  const Value map(ONNXC_MAP, {Value(names.data(), {2}), Value(values.data(), {2})}), some(ONNXC_OPTIONAL, {xs});

  session.run({input("x", xs), input("d", ds), input("s", sequence), input("m", map), input("o", some)});
  expect("y of everything", session.output<float>("y")[1] == 2202);
  expect("an optional that is there", session.output<bool>("has")[0]);
  expect("a map", session.output<float>("v")[0] == 4 && session.output<float>("v")[1] == 3);

  session.run({input("x", x.data(), {2}), input("s", sequence.get()), input("m", map)});
  expect("a default again", session.output<float>("y")[1] == 2012);
  expect("an optional that is not there", !session.output<bool>("has")[0]);

  const std::string words = refusal([&] { session.run({input("x", xs), input("m", map)}); });
  expect("a sequence of the run before", words == "input 's' is not given");
  expect("a tensor of the run before", refusal([&] { session.run({input("s", sequence), input("m", map)}); }) == "input 'x' is not given");
  expect("a result of another type", refusal([&] { session.output<double>("y"); }) == "output 'y' is float32, not float64");
  expect("an input of another type", refusal([&] {
                                       session.run({input("x", Value(words.data(), {2}, 3)), input("s", sequence), input("m", map)});
                                     }) == "input 'x': int8, the model needs float32");
  expect("a name that the model lacks", refusal([&] { session.run({input("z", xs)}); }) == "the model has no value 'z'");

  auto another = session.clone();
  static_assert(std::is_same_v<decltype(another), onnxc_models::model::Session>, "a session that knows the model's types, too");
  std::thread([&] { another.run({input("x", xs), input("d", ds), input("s", sequence), input("m", map)}); }).join();
  expect("y of a clone in another thread", another.output<float>("y")[1] == 2202);
  return failed;
}
