// Packed.h: the ops of Packed.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Packed.h.inc"
