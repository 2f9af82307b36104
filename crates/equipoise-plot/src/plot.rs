//! What a plot is made of.

use crate::{HEIGHT, WIDTH, draw};

/// A picture with two axes. Points that are not finite (or not positive on a logarithmic axis) are left out.
#[derive(Debug, Clone)]
pub struct Plot {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    description: Option<String>,
    pub(crate) series: Vec<Series>,
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    pub(crate) view: Option<[(f64, f64); 2]>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) label: String,
    pub(crate) marks: Marks,
}

#[derive(Debug, Clone)]
pub(crate) enum Marks {
    Line { points: Vec<(f64, f64)>, dashed: bool },
    Area(Vec<(f64, f64)>),
    Dots(Vec<(f64, f64, String)>),
    Boxes(Vec<(String, [f64; 5])>),
    Segments(Vec<[(f64, f64); 2]>),
}

impl Plot {
    /// An empty picture.
    pub fn new(title: impl Into<String>, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            description: None,
            series: vec![],
            log_x: false,
            log_y: false,
            view: None,
            width: WIDTH,
            height: HEIGHT,
        }
    }

    /// A line through the points in their order. An empty label keeps a series out of the legend.
    pub fn line(self, label: impl Into<String>, points: &[(f64, f64)]) -> Self {
        self.with(label, Marks::Line { points: points.to_vec(), dashed: false })
    }

    /// The same, dashed.
    pub fn dashed(self, label: impl Into<String>, points: &[(f64, f64)]) -> Self {
        self.with(label, Marks::Line { points: points.to_vec(), dashed: true })
    }

    /// The inside of a closed outline.
    pub fn area(self, label: impl Into<String>, outline: &[(f64, f64)]) -> Self {
        self.with(label, Marks::Area(outline.to_vec()))
    }

    /// Single points.
    pub fn dots(self, label: impl Into<String>, points: &[(f64, f64)]) -> Self {
        let points = points.iter().map(|&(x, y)| (x, y, String::new())).collect();
        self.with(label, Marks::Dots(points))
    }

    /// Single points with a short text beside each.
    pub fn labelled_dots(self, label: impl Into<String>, points: &[(f64, f64, String)]) -> Self {
        self.with(label, Marks::Dots(points.to_vec()))
    }

    /// A box for each category: minimum, lower quartile, median, upper quartile, maximum.
    ///
    /// The horizontal axis then shows the categories, in the order they first appear; the n-th category, counted
    /// from 0, is at x = n for lines and dots drawn over the boxes. Several series stand side by side.
    pub fn boxes(self, label: impl Into<String>, boxes: &[(impl AsRef<str>, [f64; 5])]) -> Self {
        let boxes = boxes.iter().map(|(category, five)| (category.as_ref().to_owned(), *five)).collect();
        self.with(label, Marks::Boxes(boxes))
    }

    /// Straight lines from one point to another, such as intervals.
    pub fn segments(self, label: impl Into<String>, segments: &[[(f64, f64); 2]]) -> Self {
        self.with(label, Marks::Segments(segments.to_vec()))
    }

    /// Counts the horizontal axis in powers of ten.
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// Counts the vertical axis in powers of ten.
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Shows this part only, from the lower left to the upper right corner, in the units of the data.
    pub fn view(mut self, from: (f64, f64), to: (f64, f64)) -> Self {
        self.view = Some([from, to]);
        self
    }

    /// Half as wide, so that two stand side by side in a [`stack`](crate::stack); the text stays as large.
    pub fn half(mut self) -> Self {
        (self.width, self.height) = (0.5 * WIDTH, 0.5 * WIDTH + 20.0);
        self
    }

    /// What the picture shows, for those who cannot see it; without one, the series are listed.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    fn with(mut self, label: impl Into<String>, marks: Marks) -> Self {
        self.series.push(Series { label: label.into(), marks });
        self
    }

    /// The picture as a standalone SVG document.
    pub fn to_svg(&self) -> String {
        draw::stack(&self.title, &self.description(), std::slice::from_ref(self))
    }

    /// The picture as a part of a page that carries [`STYLE`](crate::STYLE) and says the same in a table; screen readers
    /// pass it by. `id` tells it from the other pictures of the page.
    pub fn to_inline(&self, id: &str) -> String {
        draw::inline(self, id)
    }

    pub(crate) fn categories(&self) -> Vec<String> {
        let mut categories: Vec<String> = vec![];
        for series in &self.series {
            if let Marks::Boxes(boxes) = &series.marks {
                for (category, _) in boxes {
                    if !categories.contains(category) {
                        categories.push(category.clone());
                    }
                }
            }
        }
        categories
    }

    pub(crate) fn xs(&self, categories: &[String]) -> Vec<f64> {
        let mut xs: Vec<f64> = self.points().map(|(x, _)| x).collect();
        if !categories.is_empty() {
            xs.extend([-0.5, categories.len() as f64 - 0.5]);
        }
        xs
    }

    pub(crate) fn ys(&self) -> Vec<f64> {
        let mut ys: Vec<f64> = self.points().map(|(_, y)| y).collect();
        for series in &self.series {
            if let Marks::Boxes(boxes) = &series.marks {
                ys.extend(boxes.iter().flat_map(|(_, five)| *five));
            }
        }
        ys
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.series.iter().flat_map(|series| match &series.marks {
            Marks::Line { points, .. } | Marks::Area(points) => points.clone(),
            Marks::Dots(points) => points.iter().map(|&(x, y, _)| (x, y)).collect(),
            Marks::Segments(segments) => segments.iter().flatten().copied().collect(),
            Marks::Boxes(_) => vec![],
        })
    }

    pub(crate) fn description(&self) -> String {
        self.description.clone().unwrap_or_else(|| {
            let named = self.series.iter().filter(|s| !s.label.is_empty());
            let labels: Vec<&str> = named.map(|s| s.label.as_str()).collect();
            format!("{} against {}: {}.", self.y_label, self.x_label, labels.join(", "))
        })
    }
}
