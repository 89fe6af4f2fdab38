#pragma once
// GoogleTest and the standard headers, compiled once for the tests (see TiersimTargets.cmake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/precompiled.hpp"
