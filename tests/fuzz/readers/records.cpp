#include "sim/record/compact_record.hpp"
#include "sim/record/record_reader.hpp"
#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {

void read_records(std::string_view given) {
  const std::string text(given);
  const auto origin = origin_of_record(text);
  if (!origin) promise(!origin.error().empty(), "no words");
  const auto results = read_results(text);
  if (results)
    promise(read_results(compact_results(*results)).has_value(), "the results do not read again");
  const auto record = read_record(text);
  if (!record) return promise(!record.error().empty(), "no words");
  promise(origin.has_value(), "a record without an origin");
  const std::string written = to_json(*record);
  const auto again = read_record(written);
  promise(again.has_value(), "the record does not read again");
  promise(to_json(*again) == written, "the record changes when it is read again");
}

}  // namespace tiersim::fuzz
