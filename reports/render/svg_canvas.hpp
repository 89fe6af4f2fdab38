#pragma once
// A drawing as SVG text that needs nothing besides itself: no script, style sheet or font file.
// Coordinates are pixels from the upper left corner, rounded to 1/100, so that the same drawing is
// the same text on every machine. Colours are "#rrggbb", "white" or "none".
#include <string>
#include <string_view>
#include <vector>

namespace tiersim {

enum class TextAnchor { start, middle, end };

struct TextStyle {
  double size = 11;  ///< px
  TextAnchor anchor = TextAnchor::start;
  bool bold = false;
  std::string_view colour = "#222222";
  double turned = 0;  ///< degrees, around its own place
  bool halo = false;  ///< white around the letters, so that lines behind do not run through them
};

struct SvgPoint {
  double x = 0;
  double y = 0;
};

struct Stroke {
  std::string_view colour = "none";
  double width = 1;            ///< px
  std::string_view dash = {};  ///< lengths of strokes and gaps, "6 3"; solid where empty
};

class SvgCanvas {
 public:
  void line(SvgPoint from, SvgPoint to, const Stroke& stroke);
  void polyline(const std::vector<SvgPoint>& points, const Stroke& stroke);
  void polygon(const std::vector<SvgPoint>& points, std::string_view fill, const Stroke& stroke);
  void rectangle(SvgPoint corner, double width, double height, std::string_view fill,
                 const Stroke& stroke);
  void circle(SvgPoint centre, double radius, std::string_view fill, const Stroke& stroke);
  /// At its base line.
  void text(SvgPoint at, std::string_view text, const TextStyle& style);

  /// The whole file; the title is what a reader without the picture gets.
  std::string page(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

/// Width of text in px, on the wide side: fonts differ, and nothing must overlap in any.
double text_width(std::string_view utf8, double size);

/// The text in lines of at most so many px, broken at blanks; at least one line.
std::vector<std::string> text_lines(std::string_view text, double size, double width);

/// Colours of categories and lines, which people with any colour vision tell apart: Okabe and Ito,
/// Color Universal Design, 2008. Without its yellow, which is too pale for a line.
std::string_view palette(std::size_t i);

/// The colour mixed with white: 1 is the colour itself, 0 white.
std::string tinted(std::string_view colour, double strength);

}  // namespace tiersim
