# The onnx package asks for Protobuf in CONFIG mode; Debian's libprotobuf-dev has no such file, CMake's own module finds it.
include(FindProtobuf)
