#pragma once
// A drawing as self-contained SVG text, without script, style sheet or font file. Coordinates are
// pixels from the upper left corner, rounded to 1/100, so that the same drawing gives the same text
// on every machine. Colours are "#rrggbb", "white" or "none".
#include <functional>
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
  double turned = 0;  ///< degrees, around its position
  bool halo = false;  ///< a white outline of the letters, so that lines behind stay apart from them
};

struct SvgPoint {
  double x = 0;
  double y = 0;
};

struct Stroke {
  std::string_view colour = "none";
  double width = 1;            ///< px
  std::string_view dash = {};  ///< lengths of strokes and gaps, "6 3"; empty: solid
};

class SvgCanvas {
 public:
  void line(SvgPoint from, SvgPoint to, const Stroke& stroke);
  void polyline(const std::vector<SvgPoint>& points, const Stroke& stroke);
  void polygon(const std::vector<SvgPoint>& points, std::string_view fill, const Stroke& stroke);
  void rectangle(SvgPoint corner, double width, double height, std::string_view fill,
                 const Stroke& stroke);
  void circle(SvgPoint centre, double radius, std::string_view fill, const Stroke& stroke);
  /// `at` is on the base line.
  void text(SvgPoint at, std::string_view text, const TextStyle& style);
  /// Writes the shapes that `draw` draws as one group (<g>), on one line of the file.
  void group(const std::function<void()>& draw);

  /// The complete file; the title is the text for readers without the picture.
  std::string page(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

/// Width of text in px, rounded up: fonts differ, and text must not overlap in any.
double text_width(std::string_view utf8, double size);

/// The text in lines of at most `width` px, broken at blanks; at least one line.
std::vector<std::string> text_lines(std::string_view text, double size, double width);

/// Colours of categories and lines that people with any colour vision tell apart: Okabe and Ito,
/// Color Universal Design, 2008. Their yellow is left out, since it is too pale for a line.
std::string_view palette(std::size_t i);

/// The colour mixed with white: 1 is the colour itself, 0 white.
std::string tinted(std::string_view colour, double strength);

}  // namespace tiersim
