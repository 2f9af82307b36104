//! From plots to text.

use crate::labels::{Rectangle, Taken};
use crate::plot::{Marks, Plot};
use crate::scale::{Frame, Scale};
use crate::shape::{Box, dot, escape, px, text, wrap};
use crate::{CHARACTER, LEFT, LINE_HEIGHT, RIGHT, STYLE, STYLES, WIDTH};
use std::fmt::Write as _;

/// Several pictures below each other, those of half the width in pairs, as one SVG document.
pub fn stack(title: &str, description: &str, plots: &[Plot]) -> String {
    let mut inside = String::new();
    let (mut left, mut top, mut row_height) = (0.0, 0.0, 0.0_f64);
    for (number, plot) in plots.iter().enumerate() {
        let (body, own_height) = plot.body(&number.to_string());
        if left + plot.width > WIDTH {
            (left, top, row_height) = (0.0, top + row_height, 0.0);
        }
        let _ = writeln!(inside, "<g transform=\"translate({} {})\">\n{body}</g>", px(left), px(top));
        left += plot.width;
        row_height = row_height.max(own_height);
    }
    let height = top + row_height;
    let height = px(height);
    let (title, description) = (escape(title), escape(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" class=\"plot\" role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n{inside}</svg>\n"
    )
}

/// One picture without title and description of its own.
pub(crate) fn inline(plot: &Plot, id: &str) -> String {
    let (body, height) = plot.body(id);
    let (width, height) = (plot.width, px(height));
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" class=\"plot\" aria-hidden=\"true\">\n\
         <rect class=\"back\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n"
    )
}

impl Plot {
    /// The picture without the document around it, and its height. `id` tells it from others in the document.
    fn body(&self, id: &str) -> (String, f64) {
        let title_lines = wrap(&self.title, ((self.width - LEFT - RIGHT) / (CHARACTER * 1.25)) as usize);
        let legend = self.legend();
        let top = 24.0 + title_lines.len() as f64 * 22.0;
        let bottom = top + self.height - 120.0;
        let categories = self.categories();
        let legend_top = bottom + if categories.is_empty() { 66.0 } else { 78.0 };
        let height = legend_top + legend.last().map_or(-10.0, |entry| entry.1 * LINE_HEIGHT) + 22.0;
        let frame = self.frame(&categories, top, bottom);

        let mut svg = String::new();
        for (n, line) in title_lines.iter().enumerate() {
            text(&mut svg, "text title", LEFT, 30.0 + 22.0 * n as f64, "start", line);
        }
        self.axes(&mut svg, &frame, &categories, top, bottom);
        let _ = writeln!(
            svg,
            "<clipPath id=\"frame{id}\"><rect x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
            px(top),
            px(self.width - LEFT - RIGHT),
            px(bottom - top)
        );
        self.marks(&mut svg, &frame, &categories, &format!("clip-path=\"url(#frame{id})\""));
        for (x, row, n) in legend {
            self.legend_entry(&mut svg, x, legend_top + row * LINE_HEIGHT, n);
        }
        (svg, height)
    }

    fn frame(&self, categories: &[String], top: f64, bottom: f64) -> Frame {
        let right = self.width - RIGHT;
        match self.view {
            Some([from, to]) => Frame {
                x: Scale::between(from.0, to.0, LEFT, right, self.log_x),
                y: Scale::between(from.1, to.1, bottom, top, self.log_y),
            },
            None => Frame {
                x: Scale::across(&self.xs(categories), LEFT, right, self.log_x, !categories.is_empty()),
                y: Scale::up(&self.ys(), top, bottom, self.log_y),
            },
        }
    }

    fn axes(&self, svg: &mut String, frame: &Frame, categories: &[String], top: f64, bottom: f64) {
        for (value, label) in frame.y.ticks() {
            let y = px(frame.y.at(value));
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {y}H{}\"/>", self.width - RIGHT);
            text(svg, "text small", LEFT - 8.0, frame.y.at(value) + 4.0, "end", &label);
        }
        if categories.is_empty() {
            for (value, label) in frame.x.ticks() {
                let x = px(frame.x.at(value));
                let _ = writeln!(svg, "<path class=\"grid\" d=\"M{x} {}V{}\"/>", px(top), px(bottom));
                text(svg, "text small", frame.x.at(value), bottom + 18.0, "middle", &label);
            }
        } else {
            let room = ((frame.x.at(1.0) - frame.x.at(0.0)) / CHARACTER) as usize;
            for (n, category) in categories.iter().enumerate() {
                for (row, line) in wrap(category, room).iter().take(2).enumerate() {
                    let y = bottom + 18.0 + 14.0 * row as f64;
                    text(svg, "text small", frame.x.at(n as f64), y, "middle", line);
                }
            }
        }
        let (top, bottom, right) = (px(top), px(bottom), self.width - RIGHT);
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{LEFT} {top}V{bottom}H{right}\"/>");
        let middle = 0.5 * (frame.y.low_px + frame.y.high_px);
        let offset = if categories.is_empty() { 40.0 } else { 50.0 };
        let below = frame.y.low_px + offset;
        text(svg, "text", 0.5 * (LEFT + self.width - RIGHT), below, "middle", &self.x_label);
        let _ = writeln!(
            svg,
            "<text class=\"text\" text-anchor=\"middle\" transform=\"translate(22 {}) rotate(-90)\">{}</text>",
            px(middle),
            escape(&self.y_label)
        );
    }

    /// `clip` keeps what has no extent of its own, lines and areas, inside the frame.
    fn marks(&self, svg: &mut String, frame: &Frame, categories: &[String], clip: &str) {
        let mut taken = Taken::within(self.width, frame.y.low_px);
        for series in &self.series {
            match &series.marks {
                Marks::Dots(points) => {
                    for (x, y, _) in points {
                        taken.keep(Rectangle::around(frame.x.at(*x), frame.y.at(*y), 4.0, 4.0));
                    }
                }
                Marks::Line { points, .. } => {
                    for ends in points.windows(2) {
                        taken.keep_segment([ends[0], ends[1]].map(|(x, y)| (frame.x.at(x), frame.y.at(y))));
                    }
                }
                Marks::Segments(segments) => {
                    for ends in segments {
                        taken.keep_segment(ends.map(|(x, y)| (frame.x.at(x), frame.y.at(y))));
                    }
                }
                Marks::Area(_) | Marks::Boxes(_) => {}
            }
        }
        let box_series: Vec<usize> =
            (0..self.series.len()).filter(|&n| matches!(self.series[n].marks, Marks::Boxes(_))).collect();
        for (n, series) in self.series.iter().enumerate() {
            let style = n % STYLES;
            match &series.marks {
                Marks::Line { points, dashed } => {
                    let dash = if *dashed { " dash" } else { "" };
                    let path = frame.path(points);
                    let _ = writeln!(svg, "<path {clip} class=\"line{dash} s{style}\" d=\"{path}\"/>");
                }
                Marks::Area(points) => {
                    let path = frame.path(points);
                    let _ = writeln!(svg, "<path {clip} class=\"area f{style}\" d=\"{path}Z\"/>");
                }
                Marks::Segments(segments) => {
                    let paths: String = segments.iter().map(|ends| frame.path(ends)).collect();
                    let _ = writeln!(svg, "<path {clip} class=\"line s{style}\" d=\"{paths}\"/>");
                }
                Marks::Dots(points) => {
                    for (x, y, label) in points.iter().filter(|(x, y, _)| frame.contains(*x, *y)) {
                        let (x, y) = (frame.x.at(*x), frame.y.at(*y));
                        dot(svg, x, y, style);
                        if !label.is_empty() {
                            taken.label(svg, x, y, label);
                        }
                    }
                }
                Marks::Boxes(boxes) => {
                    let place = box_series.iter().position(|&m| m == n).expect("it is one of them") as f64;
                    let count = box_series.len() as f64;
                    let width = 0.7 * (frame.x.at(1.0) - frame.x.at(0.0)) / count;
                    let shift = (place - 0.5 * (count - 1.0)) * width;
                    for (category, five) in boxes {
                        if five.iter().all(|&value| frame.shows(0.0, value)) {
                            let at = categories.iter().position(|c| c == category).expect("collected") as f64;
                            let shape = Box { centre: frame.x.at(at) + shift, width: width.min(64.0) * 0.8 };
                            shape.draw(svg, five.map(|value| frame.y.at(value)), style);
                        }
                    }
                }
            }
        }
    }

    /// Where each entry of the legend goes: left edge, row, series.
    fn legend(&self) -> Vec<(f64, f64, usize)> {
        let (mut x, mut row) = (LEFT, 0.0);
        let mut entries = vec![];
        for (n, series) in self.series.iter().enumerate().filter(|(_, s)| !s.label.is_empty()) {
            let width = 34.0 + CHARACTER * series.label.chars().count() as f64 + 22.0;
            if x > LEFT && x + width > self.width - RIGHT {
                (x, row) = (LEFT, row + 1.0);
            }
            entries.push((x, row, n));
            x += width;
        }
        entries
    }

    fn legend_entry(&self, svg: &mut String, x: f64, y: f64, n: usize) {
        let style = n % STYLES;
        let (left, right, middle) = (px(x), px(x + 24.0), px(y - 4.5));
        match &self.series[n].marks {
            Marks::Line { dashed, .. } => {
                let dash = if *dashed { " dash" } else { "" };
                let path = format!("M{left} {middle}H{right}");
                let _ = writeln!(svg, "<path class=\"line{dash} s{style}\" d=\"{path}\"/>");
            }
            Marks::Segments(_) => {
                let _ = writeln!(svg, "<path class=\"line s{style}\" d=\"M{left} {middle}H{right}\"/>");
            }
            Marks::Area(_) => {
                let top = px(y - 11.0);
                let _ = writeln!(
                    svg,
                    "<rect class=\"area f{style}\" x=\"{left}\" y=\"{top}\" width=\"24\" height=\"13\"/>"
                );
            }
            Marks::Dots(_) => dot(svg, x + 12.0, y - 4.5, style),
            Marks::Boxes(_) => {
                let top = px(y - 11.0);
                let _ = writeln!(
                    svg,
                    "<rect class=\"box s{style} f{style}\" x=\"{left}\" y=\"{top}\" width=\"24\" height=\"13\"/>"
                );
            }
        }
        text(svg, "text", x + 32.0, y, "start", &self.series[n].label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_escaped_everywhere() {
        let hostile = "<script>\"&\u{1}";
        let svg = Plot::new(hostile, hostile, hostile)
            .labelled_dots(hostile, &[(0.0, 1.0, hostile.to_owned())])
            .boxes(hostile, &[(hostile, [1.0, 2.0, 3.0, 4.0, 5.0])])
            .describe(hostile)
            .to_svg();
        assert!(!svg.contains("<script") && !svg.contains('\u{1}') && svg.contains("&lt;script&gt;"));
    }

    #[test]
    fn points_that_cannot_be_drawn_are_left_out() {
        let points =
            [(0.0, 0.0), (1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, -1.0), (4.0, 0.01), (5.0, 1.0)];
        let svg = Plot::new("t", "x", "y").line("l", &points).dots("d", &points).log_y().to_svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("class=\"dot").count(), 3, "two dots and the legend");
    }

    #[test]
    fn a_small_part_of_a_long_line_is_a_small_file() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|n| (f64::from(n), f64::from(n).sin())).collect();
        let svg = Plot::new("t", "x", "y").line("l", &points).view((500.0, -1.0), (510.0, 1.0)).to_svg();
        assert!(svg.len() < 6_000, "{} bytes", svg.len());
    }

    #[test]
    fn an_empty_picture_still_has_axes() {
        let svg = Plot::new("Nothing", "x", "y").to_svg();
        assert!(
            svg.contains("class=\"axis\"") && svg.contains("<title>Nothing</title>") && !svg.contains("NaN")
        );
    }

    #[test]
    fn one_value_on_a_logarithmic_axis_has_a_decade_on_either_side() {
        let svg = Plot::new("t", "x", "y").dots("d", &[(1.0, 0.01)]).log_y().to_svg();
        for label in ["0.001", "0.005", "0.01", "0.1"] {
            assert!(svg.contains(&format!(">{label}<")), "{label}");
        }
    }

    #[test]
    fn boxes_of_several_series_stand_side_by_side() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let svg = Plot::new("t", "x", "y").boxes("a", &[("one", five)]).boxes("b", &[("one", five)]).to_svg();
        let lefts: Vec<&str> =
            svg.match_indices("<rect class=\"box").map(|(at, _)| &svg[at..at + 40]).collect();
        assert_eq!(lefts.len(), 4);
        assert_ne!(lefts[0], lefts[1]);
    }

    #[test]
    fn half_pictures_stand_in_pairs() {
        let half = || Plot::new("t", "x", "y").line("l", &[(0.0, 0.0), (1.0, 1.0)]).half();
        let whole = Plot::new("t", "x", "y");
        let svg = stack("t", "d", &[half(), half(), half(), whole]);
        let places: Vec<&str> = (svg.match_indices("<g transform=\"translate("))
            .map(|(at, start)| svg[at + start.len()..].split(')').next().unwrap())
            .collect();
        let (first, second, third) = (places[0], places[1], places[2]);
        assert!(first == "0 0" && second == "380 0" && third.starts_with("0 "), "{places:?}");
        assert!(places[3].starts_with("0 ") && places[3] != third, "{places:?}");
    }

    #[test]
    fn a_logarithmic_axis_ends_at_round_numbers() {
        let svg = Plot::new("t", "x", "y").dots("d", &[(3.0, 0.0), (12.0, 1.0)]).log_x().to_svg();
        for label in ["2", "5", "10", "20"] {
            assert!(svg.contains(&format!(">{label}</text>")), "{label}: {svg}");
        }
        assert!(!svg.contains(">50</text>"));
    }

    #[test]
    fn inside_a_page_a_plot_has_no_style_and_is_passed_by() {
        let plot = Plot::new("t", "x", "y").segments("i", &[[(0.0, 1.0), (2.0, 1.0)]]);
        let svg = plot.to_inline("a");
        assert!(!svg.contains("<style") && svg.contains("aria-hidden") && svg.contains("framea"), "{svg}");
    }
}
