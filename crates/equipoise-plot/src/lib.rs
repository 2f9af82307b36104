#![forbid(unsafe_code)]
//! Plots as SVG text: lines, dots, boxes and intervals on axes with round ticks, and a legend.
//!
//! Written here rather than taken from a plotting crate so that the text alternative, the colours in light and
//! dark, and the bytes for a given input stay in our hands.
//!
//! ```
//! use equipoise_plot::Plot;
//! let plot = Plot::new("Error against tolerance", "tolerance", "error").line("paper", &[(0.1, 0.2), (0.01, 0.03)]);
//! assert!(plot.log_y().to_svg().starts_with("<svg"));
//! ```
//!
//! [`Chart`]s are the small ones: for pages that are read on a phone, too.
//!
//! A plot is a document of its own ([`Plot::to_svg`]) or a part of a page ([`Plot::to_inline`]) that carries [`STYLE`].

mod chart;
mod draw;
mod labels;
mod plot;
mod scale;
mod shape;

pub use chart::{Axis, Chart};
pub use draw::stack;
pub use plot::Plot;
pub use shape::{escape, wrap};

/// The style sheet of all plots, for pages with plots in them.
///
/// Classes rather than attributes, so that one media query recolours the whole picture. Plain colours rather than
/// custom properties, which several converters do not know.
pub const STYLE: &str = "\
.plot .back{fill:#fff}.plot .text{fill:#1b1f24;font:14px system-ui,sans-serif}\
.plot .title{font-size:17px;font-weight:600}.plot .small{font-size:12px}\
.plot .axis{stroke:#57606a;fill:none}.plot .grid{stroke:#e4e7eb;fill:none}\
.plot .line{fill:none;stroke-width:2.2;stroke-linejoin:round}.plot .dash{stroke-dasharray:7 5}\
.plot .area{stroke:none;opacity:.13}.plot .dot{stroke:#fff;stroke-width:1}\
.plot .box{fill-opacity:.25;stroke-width:1.6}.plot .lead{stroke:#57606a;stroke-width:.7}\
.plot .s0{stroke:#0969b4}.plot .f0{fill:#0969b4}.plot .s1{stroke:#c2410c}.plot .f1{fill:#c2410c}\
.plot .s2{stroke:#0f7b5f}.plot .f2{fill:#0f7b5f}.plot .s3{stroke:#8a3fa0}.plot .f3{fill:#8a3fa0}\
.plot .s4{stroke:#7a6200}.plot .f4{fill:#7a6200}.plot .s5{stroke:#50575f}.plot .f5{fill:#50575f}\
@media screen and (prefers-color-scheme:dark){.plot .back{fill:#15191e}.plot .text{fill:#e6e9ed}\
.plot .axis,.plot .lead{stroke:#98a2ad}.plot .grid{stroke:#2b323a}.plot .area{opacity:.2}.plot .dot{stroke:#15191e}\
.plot .s0{stroke:#5fb3f5}.plot .f0{fill:#5fb3f5}.plot .s1{stroke:#ff9057}.plot .f1{fill:#ff9057}\
.plot .s2{stroke:#45d1a3}.plot .f2{fill:#45d1a3}.plot .s3{stroke:#d8a0ea}.plot .f3{fill:#d8a0ea}\
.plot .s4{stroke:#e3c447}.plot .f4{fill:#e3c447}.plot .s5{stroke:#b9c1ca}.plot .f5{fill:#b9c1ca}}";

/// The width of a whole picture.
const WIDTH: f64 = 760.0;
/// The height of one, without title and legend.
const HEIGHT: f64 = 460.0;
/// Room for the tick numbers and the axis label on the left.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 28.0;
const LINE_HEIGHT: f64 = 19.0;
/// A rough width of one character of the 14 px text, for wrapping and for spacing the legend.
const CHARACTER: f64 = 7.2;
/// How many different colours and dot shapes there are.
const STYLES: usize = 6;
