#pragma once
// GoogleTest and the standard headers, compiled once for the tests (sim/cmake/TiersimTargets.cmake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/precompiled.hpp"
