// Sequence.h: the ops of Sequence.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Sequence.h.inc"
