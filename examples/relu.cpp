// relu.cpp: a compiled model through its generated C++ header. Build: c++ -std=c++17 relu.cpp -o relu_cpp -Iheaders -Iruntime_stub/include
// relu.a.
#include "relu.hpp"
#include <iostream>
#include <thread>

int main() {
  onnxc_models::relu::Session session;
  const float x[] = {-1, 2, -3, 4, -5, 6};
  for (float v : session.run({{x, {2, 3}}}).y)
    std::cout << v << ' ';
  std::cout << '\n';

  session.run({onnxc::input("x", x, {1, 3})});  // arguments by name
  std::cout << session.output<float>("y").shape[0] << '\n';

  auto another = session.clone();  // the same weights for another thread
  std::thread([&] { std::cout << another.run({{x, {2, 3}}}).y[1] << '\n'; }).join();
  try {
    another.run({onnxc::input("x", x, {3, 2})});
  } catch (const onnxc::Error &error) {
    std::cout << error.node << ": " << error.what() << '\n';
    return 0;
  }
  return 1;
}
