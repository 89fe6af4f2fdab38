#pragma once
// One tree laid over another. Mappings merge key by key; a scalar or list replaces the value below.
// A mapping that names a base of its own also replaces the mapping below, so that no key of another
// model or device leaks into it. The interval of a number goes with its value, and a bare number
// below becomes the `value` of a mapping above that gives only its class, source or interval. `~`
// over a key removes it. An override such as `rows.2.label=x` changes a list element by its
// position.
#include "sim/config/diagnostics.hpp"
#include "sim/config/tree.hpp"

namespace tiersim {

/// `above` over `below`. Reports an override of a list element that does not exist.
Node overlay(Node below, Node above, Diagnostics& diagnostics);

/// The same for the top levels of two base files of one mapping, which always merge.
Node overlay_bases(Node below, Node above, Diagnostics& diagnostics);

}  // namespace tiersim
