# onnxc_add_library(name SOURCES… [DEPENDS targets…] [LINK libs…]): a static library of the compiler, with the shared precompiled header.
set(ONNXC_PCH_SOURCE ${CMAKE_SOURCE_DIR}/cmake/Pch.cpp)
add_library(onnxc_pch OBJECT ${ONNXC_PCH_SOURCE})
target_precompile_headers(onnxc_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Pch.h)

function(onnxc_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_precompile_headers(${name} REUSE_FROM onnxc_pch)
  add_dependencies(${name} onnxc_pch)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# lld's own archives: its CMake targets ask for the shared LLVM.
set(ONNXC_LLD ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a z zstd)
# Of each archive the linker takes what is used. The ones of Polly are there because LLVM's LTO, which lld refers to, was built with it.
file(GLOB ONNXC_LLVM_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a ${LLVM_LIBRARY_DIR}/libPolly*.a)

# onnxc_add_tool(name SOURCES… LINK libs… [STATIC]): an executable with MLIR and LLVM, shared or (STATIC) within it: binding their symbols is a
# quarter of a small compile, and a file of its own can be copied.
function(onnxc_add_tool name)
  cmake_parse_arguments(ARG "STATIC" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})  # no precompiled header: it is compiled with -fPIC, a program with -fPIE
  if(ARG_STATIC AND NOT ONNXC_SANITIZE)
    target_link_libraries(${name} PRIVATE ${ARG_LINK} ${ONNXC_LLVM_ARCHIVES})
    target_link_options(${name} PRIVATE -Wl,--gc-sections)
  else()
    target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  endif()
endfunction()
