#include "reports/render/svg_canvas.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "reports/render/table.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// "12", "12.5", "12.25"; never "-0".
std::string number(double value) {
  TS_EXPECTS(std::isfinite(value), value);
  std::string out = fmt::format("{:.2f}", value);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';  // not allowed in XML
    } else {
      out += c;
    }
  }
  return out;
}

std::string attributes(const Stroke& stroke) {
  if (stroke.colour == "none") return "";
  std::string out =
      fmt::format(R"( stroke="{}" stroke-width="{}")", stroke.colour, number(stroke.width));
  if (!stroke.dash.empty()) out += fmt::format(" stroke-dasharray=\"{}\"", stroke.dash);
  return out;
}

std::string joined(const std::vector<SvgPoint>& points) {
  std::string out;
  for (const SvgPoint& point : points)
    out += fmt::format("{}{},{}", out.empty() ? "" : " ", number(point.x), number(point.y));
  return out;
}

std::string_view name_of(TextAnchor anchor) {
  constexpr std::array<std::string_view, 3> kNames{"start", "middle", "end"};
  return kNames.at(static_cast<std::size_t>(anchor));
}

unsigned channel(std::string_view colour, std::size_t at) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(colour.data() + at, colour.data() + at + 2, value, 16);
  TS_EXPECTS(error == std::errc{} && end == colour.data() + at + 2, colour);
  return value;
}

}  // namespace

void SvgCanvas::line(SvgPoint from, SvgPoint to, const Stroke& stroke) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", number(from.x),
                       number(from.y), number(to.x), number(to.y), attributes(stroke));
}

void SvgCanvas::polyline(const std::vector<SvgPoint>& points, const Stroke& stroke) {
  body_ += fmt::format("<polyline points=\"{}\" fill=\"none\"{}/>\n", joined(points),
                       attributes(stroke));
}

void SvgCanvas::polygon(const std::vector<SvgPoint>& points, std::string_view fill,
                        const Stroke& stroke) {
  body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"{}/>\n", joined(points), fill,
                       attributes(stroke));
}

void SvgCanvas::rectangle(SvgPoint corner, double width, double height, std::string_view fill,
                          const Stroke& stroke) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}/>\n",
                       number(corner.x), number(corner.y), number(width), number(height), fill,
                       attributes(stroke));
}

void SvgCanvas::circle(SvgPoint centre, double radius, std::string_view fill,
                       const Stroke& stroke) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"{}/>\n", number(centre.x),
                       number(centre.y), number(radius), fill, attributes(stroke));
}

void SvgCanvas::text(SvgPoint at, std::string_view text, const TextStyle& style) {
  std::string extra;
  if (style.anchor != TextAnchor::start)
    extra += fmt::format(" text-anchor=\"{}\"", name_of(style.anchor));
  if (style.bold) extra += " font-weight=\"bold\"";
  if (style.turned != 0)
    extra += fmt::format(" transform=\"rotate({} {} {})\"", number(style.turned), number(at.x),
                         number(at.y));
  if (style.halo)
    extra +=
        " paint-order=\"stroke\" stroke=\"white\" stroke-width=\"3\" stroke-linejoin=\"round\"";
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{}>{}</text>\n",
                       number(at.x), number(at.y), number(style.size), style.colour, extra,
                       escaped(text));
}

void SvgCanvas::group(const std::function<void()>& draw) {
  const std::size_t begin = body_.size();
  draw();
  std::string shapes = body_.substr(begin);
  std::erase(shapes, '\n');  // texts have no newlines, since escaped() replaces them
  body_.resize(begin);
  body_ += "<g>" + shapes + "</g>\n";
}

std::string SvgCanvas::page(double width, double height, std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
      "role=\"img\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{3}</svg>\n",
      number(width), number(height), escaped(title), body_);
}

double text_width(std::string_view utf8, double size) {
  constexpr double kWidest = 0.6;  // of the font size; DejaVu Sans has 0.59 in running text
  return kWidest * size * static_cast<double>(display_width(utf8));
}

std::vector<std::string> text_lines(std::string_view text, double size, double width) {
  std::vector<std::string> out{""};
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word(text.substr(start, end - start));
    std::string& line = out.back();
    if (!line.empty() && text_width(fmt::format("{} {}", line, word), size) > width) {
      out.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    start = end + 1;
  }
  return out;
}

std::string_view palette(std::size_t i) {
  constexpr std::array<std::string_view, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#E69F00", "#56B4E9", "#000000"};
  return kColours[i % kColours.size()];
}

std::string tinted(std::string_view colour, double strength) {
  TS_EXPECTS(colour.size() == 7, colour);
  std::string out = "#";
  for (const std::size_t at : {1U, 3U, 5U}) {
    const double mixed = 255 + strength * (channel(colour, at) - 255.0);
    out += fmt::format("{:02X}", static_cast<unsigned>(std::lround(std::clamp(mixed, 0.0, 255.0))));
  }
  return out;
}

}  // namespace tiersim
