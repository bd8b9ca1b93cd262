// Tensor.h: the ops of Tensor.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Tensor.h.inc"
