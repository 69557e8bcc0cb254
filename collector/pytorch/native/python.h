// SPDX-License-Identifier: MIT
#pragma once

/// CPython's stable interface of version 3.8: one build works with 3.8 and all later versions.
#define Py_LIMITED_API 0x03080000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
