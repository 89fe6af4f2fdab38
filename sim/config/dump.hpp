#pragma once
// A struct as a tree: every field in the order of describe(), defaults included.
#include "sim/config/describe.hpp"
#include "sim/config/plain_tree.hpp"

namespace tiersim::detail {

PlainTree dump(const StructValue& config, Sources sources);
/// An optional without a value gives a null node.
PlainTree dump_value(const Value& value, Sources sources);

}  // namespace tiersim::detail
