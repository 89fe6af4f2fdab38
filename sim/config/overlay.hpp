#pragma once
// One tree over another. Mappings merge key by key; a scalar or list replaces what is below; so
// does a mapping that names a base of its own, so that no key of another model or device leaks into
// it. The interval of a number goes with its value, and a bare number below keeps its place as the
// `value` of a mapping that gives its class, source or interval only. An override such as
// `rows.2.label=x` reaches into a list by position.
#include "sim/config/diagnostics.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

/// `above` over `below`. Reports an override of a list element that does not exist.
Node overlay(Node below, Node above, Diagnostics& diagnostics);

/// The same for the top levels of two base files of one mapping, which always merge.
Node overlay_bases(Node below, Node above, Diagnostics& diagnostics);

}  // namespace tiersim
