// ControlFlow.h: the ops of ControlFlow.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/ControlFlow.h.inc"
