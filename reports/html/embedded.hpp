#pragma once
// Texts of this folder that the build puts into the program (sim/cmake/TiersimEmbed.cmake).
#include <string_view>

namespace tiersim {

std::string_view embedded_page_css();
std::string_view embedded_page_js();
std::string_view embedded_explorer_css();
std::string_view embedded_explorer_js();
std::string_view embedded_charts_js();

}  // namespace tiersim
