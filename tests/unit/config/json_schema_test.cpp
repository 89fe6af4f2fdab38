#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::json_schema_test {
namespace {

using namespace sample;
using Json = nlohmann::ordered_json;

// The schema with each definition in the place of its references.
Json resolved(const Json& schema, const Json& definitions) {
  if (!schema.is_structured()) return schema;
  Json out = schema.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : schema.items()) {
    if (schema.is_array())
      out.push_back(resolved(value, definitions));
    else if (key == "$ref") {
      const std::string name = value.get<std::string>().substr(8);  // after "#/$defs/"
      const Json definition = resolved(definitions.at(name), definitions);
      for (const auto& [part, of] : definition.items())
        out[part] = schema.contains(part) ? schema[part] : of;
    } else if (!out.contains(key) && key != "$defs")
      out[key] = resolved(value, definitions);
  }
  return out;
}

Json shipped_experiment_schema() {
  return Json::parse(json_schema<Experiment>("experiment", "an experiment"));
}

Json experiment_schema() {
  const Json schema = shipped_experiment_schema();
  return resolved(schema, schema.at("$defs"));
}

TEST(JsonSchema, OfAStructIsExact) {
  EXPECT_EQ(json_schema<Window>("window", "a window"), R"X({
  "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "a window", "description": "A span of time.", "type": "object",
  "properties": {"schema": {"const": "tiersim.window/v1"}, "base": {"description": "Files that this mapping lies over.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "from": {"description": "Start. Units: ps, ns, us, ms, s. Required.", "$ref": "#/$defs/duration"}, "to": {"description": "End. Units: ps, ns, us, ms, s. Required.", "$ref": "#/$defs/duration"}},
  "additionalProperties": false,
  "required": ["schema"],
  "$defs": {"duration": {"type": "string", "pattern": "^[0-9]*\\.?[0-9]+([eE][+-]?[0-9]+)? (ps|ns|us|ms|s)$"}}
}
)X");
}

TEST(JsonSchema, DefinesOnceWhatStandsAtSeveralPlaces) {
  const Json schema = shipped_experiment_schema();
  const Json& properties = schema["properties"];
  EXPECT_EQ(properties["windows"]["items"].dump(), R"({"$ref":"#/$defs/windows.item"})");
  EXPECT_EQ(properties["warm_up"]["$ref"], "#/$defs/windows.item");
  EXPECT_EQ(schema["$defs"]["windows.item"]["description"], "A span of time.");
  EXPECT_FALSE(properties["model"].contains("$ref"));  // stands at one place
}

TEST(JsonSchema, RefersToEachDefinitionTwiceAtLeast) {
  const Json schema = shipped_experiment_schema();
  const std::string text = schema.dump();
  for (const auto& [name, definition] : schema["$defs"].items()) {
    const std::string reference = "\"#/$defs/" + name + '"';
    const std::size_t first = text.find(reference);
    ASSERT_NE(first, std::string::npos) << name;
    EXPECT_NE(text.find(reference, first + 1), std::string::npos) << name;
  }
}

TEST(JsonSchema, GivesTypesBoundsNamesAndDefaults) {
  const Json properties = experiment_schema()["properties"];
  EXPECT_EQ(properties["step"]["properties"]["batch"].dump(),
            R"({"description":"Sequences. Allowed: 1 to 1000000. Required.","type":"integer",)"
            R"("minimum":1,"maximum":1000000})");
  EXPECT_EQ(properties["step"]["properties"]["kv_type"].dump(),
            R"({"description":"Element type. Optional.","enum":["fp16","fp8","int8"],)"
            R"("default":"fp16"})");
  EXPECT_EQ(properties["scale"]["exclusiveMinimum"], 0);
  EXPECT_EQ(properties["compute"]["default"], "1 TFLOP/s");
  EXPECT_EQ(properties["path"].dump(),
            R"({"description":"Devices on the way. Optional.","type":"array",)"
            R"("items":{"type":"string"}})");
}

TEST(JsonSchema, HasOneObjectForEachKindOfASelect) {
  const Json devices = experiment_schema()["properties"]["devices"];
  EXPECT_TRUE(devices["properties"].contains("base"));
  const Json& kinds = devices["additionalProperties"]["anyOf"];
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0]["properties"]["model"]["const"], "memory");
  EXPECT_EQ(kinds[0]["additionalProperties"], false);
  EXPECT_TRUE(kinds[0]["properties"].contains("capacity"));
  EXPECT_EQ(kinds[1]["properties"]["lanes"]["enum"].dump(), "[1,2,4,8,16]");
}

TEST(JsonSchema, TakesASourcedNumberInBothForms) {
  const Json capacity = experiment_schema()["properties"]["devices"]["additionalProperties"]
                                           ["anyOf"][0]["properties"]["capacity"];
  EXPECT_THAT(capacity["description"].get<std::string>(),
              ::testing::StartsWith("Bytes that it holds. Units: B, KB, KiB"));
  ASSERT_EQ(capacity["anyOf"].size(), 2U);
  EXPECT_EQ(capacity["anyOf"][0]["type"], "string");
  EXPECT_EQ(capacity["anyOf"][1]["properties"]["class"].dump(),
            R"({"enum":["measured","fitted","specification","announced","assumed"]})");
}

}  // namespace
}  // namespace tiersim::json_schema_test
