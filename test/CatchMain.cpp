// The main program of every Catch2 test; compiled once (test/CMakeLists.txt links it in).
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
