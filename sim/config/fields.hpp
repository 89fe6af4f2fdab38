#pragma once
// The one declaration per parameter. A struct lists its fields once, in
//
//   void describe(Fields& f, HbmConfig& c) {
//     f.doc("High-bandwidth memory beside the GPU.");
//     f.required("capacity", c.capacity, "Bytes the workload may place here.");
//     f.optional("efficiency", c.efficiency, "Achieved over peak.", in_range(0.0, 1.0));
//   }
//
// and that one function reads YAML, checks ranges, applies defaults (the value that the member has),
// writes the canonical text and the JSON schema, and prints help: each is a Fields of its own.
