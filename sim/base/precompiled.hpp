#pragma once
// The headers of the standard library that most sources use, and fmt, compiled once for a build
// (sim/cmake/TiersimTargets.cmake). No source includes this file: each names what it uses, which
// builds without precompiled headers (the `dev` preset) hold it to.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
