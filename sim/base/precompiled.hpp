#pragma once
// The standard headers that most sources use, and fmt, compiled once for a build
// (sim/cmake/TiersimTargets.cmake). No source includes this file: each includes the headers that it
// uses, and builds without precompiled headers (the `dev` preset) check this.
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
