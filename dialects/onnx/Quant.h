// Quant.h: the ops of Quant.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Quant.h.inc"
