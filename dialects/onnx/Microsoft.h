// Microsoft.h: the ops of Microsoft.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Microsoft.h.inc"
