#pragma once
// A file of a report, before it is written.
#include <string>

namespace tiersim {

struct ReportFile {
  std::string name;
  std::string text;
};

}  // namespace tiersim
