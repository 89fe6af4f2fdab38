#include "tests/unit/config/sample_config.hpp"

#include "sim/base/text.hpp"

namespace tiersim::sample {
namespace {

void describe_memory(Fields& f, Memory& c) {
  f.required("capacity", c.capacity, "Bytes that it holds.", positive());
  f.required("peak", c.peak, "Data-sheet bandwidth.", at_least(Bandwidth::from_base(1'000'000)));
  f.optional("efficiency", c.efficiency, "Achieved over peak.", in_range(0.0, 1.0));
}

void describe_link(Fields& f, Link& c) {
  using namespace std::chrono_literals;
  f.required("raw", c.raw, "Rate of one direction.", positive());
  f.optional("lanes", c.lanes, "Lanes.", one_of({1, 2, 4, 8, 16}));
  f.optional("latency", c.latency, "One crossing.", in_range(0ns, 1ms));
}

}  // namespace

void describe(Fields& f, Model& c) {
  f.doc("A transformer.");
  f.required("name", c.name, "Name.");
  f.required("layers", c.layers, "Decoder layers.", in_range(1, 1000));
  f.required("heads", c.heads, "Query heads.", positive());
  f.required("kv_heads", c.kv_heads, "Key heads.", positive());
  f.optional("tied", c.tied, "Whether embedding and head share weights.");
  f.check(c.kv_heads == 0 || c.heads % c.kv_heads == 0, "kv_heads", "does not divide heads",
          "every key head serves the same number of query heads");
}

void describe(Fields& f, Device& c) {
  f.doc("A device.");
  const std::vector<Alternative> kinds{{"memory", "A memory."}, {"link", "A link."}};
  f.select("model", c.kind, kinds, [&](const std::string& kind, Fields& fields) {
    if (kind == "memory") return describe_memory(fields, c.memory);
    describe_link(fields, c.link);
  });
}

void describe(Fields& f, Step& c) {
  f.doc("One decode step.");
  f.required("batch", c.batch, "Sequences.", in_range(1, 1'000'000));
  f.required("context", c.context, "Positions.", at_least(1));
  f.optional("kv_type", c.kv_type, kDataTypeNames, "Element type.");
  f.optional("also", c.also, kDataTypeNames, "Further element types.");
}

void describe(Fields& f, Window& c) {
  f.doc("A span of time.");
  f.required("from", c.from, "Start.");
  f.required("to", c.to, "End.");
  f.check(c.from <= c.to, "to", "is before its start");
}

void describe(Fields& f, Experiment& c) {
  f.doc("One step of a model on devices.");
  f.required("name", c.name, "Name.");
  f.optional("note", c.note, "What for.", one_of({"none", "warm", "cold"}));
  f.document("model", c.model, "model", "The model.");
  f.document("devices", c.devices, "device", "Devices by name.");
  f.required("step", c.step, "The step.");
  f.optional("path", c.path, "Devices on the way.");
  f.optional("windows", c.windows, "Spans to report.");
  f.optional("warm_up", c.warm_up, "Span to leave out.");
  f.optional("scale", c.scale, "Factor.", above(0.0));
  f.optional("compute", c.compute, "Peak of the GPU.");
  f.optional("budget", c.budget, "Operations.");
  std::vector<std::string> names;
  for (const auto& [name, device] : c.devices) names.push_back(name);
  for (std::size_t i = 0; i < c.path.size(); ++i)
    f.check(c.devices.contains(c.path[i]), "path." + std::to_string(i),
            "no device is named '" + c.path[i] + "'", "the devices are: " + join(names));
}

}  // namespace tiersim::sample
