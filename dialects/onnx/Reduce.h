// Reduce.h: the ops of Reduce.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Reduce.h.inc"
