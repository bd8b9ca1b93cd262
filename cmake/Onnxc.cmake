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

# onnxc_add_tool(name SOURCES… LINK libs…): an executable linked to the shared MLIR and LLVM.
function(onnxc_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})  # no precompiled header: it is compiled with -fPIC, a program with -fPIE
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
endfunction()
