// Elementwise.h: the ops of Elementwise.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Elementwise.h.inc"
