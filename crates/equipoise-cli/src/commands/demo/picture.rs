//! The picture of a demo: what is achievable, what was asked, and where the answers led.

use crate::ratio::two_digits;
use equipoise::Answered;
use equipoise::space::Binary;
use equipoise_plot::{Plot, stack};

/// Points of the plot, out of 1,000 people.
type Point = (f64, f64);

const FOUND: &str = "people with cancer who are found";
const CLEARED: &str = "people without cancer who are cleared";

/// The whole region above, and below it the corner where the questions were asked.
pub fn of(space: &Binary, transcript: &[Answered], ratio: f64) -> String {
    let systems = systems(transcript);
    let best = per_thousand(space.extreme([ratio, 1.0]));
    let ends = [[1.0, 0.0], [0.0, 1.0]].map(|weights| per_thousand(space.extreme(weights)));
    let inner = systems.iter().map(|&(x, y, _)| (x, y)).filter(|point| !ends.contains(point));
    let corner = Corner::around(inner, best);

    let prior = space.positive_prior();
    let whole = boundaries(space, "What screening can achieve, out of 1,000 people", "worst classifiers")
        .line("enlarged below", &corner.outline())
        .dots("", &systems.iter().map(|&(x, y, _)| (x, y)).collect::<Vec<_>>())
        .view((0.0, 0.0), (1030.0 * prior, 1030.0 * (1.0 - prior)));
    let numbered: Vec<_> = systems.iter().map(|(x, y, n)| (*x, *y, n.to_string())).collect();
    let recovered = format!("worth the same: {} false alarms for one missed cancer", two_digits(ratio));
    let close = boundaries(space, "Where the questions were asked", "")
        .dashed(recovered, &corner.line_through(best, -ratio))
        .labelled_dots("systems, by the question that first showed them", &numbered)
        .dots("best system at this cost", &[best])
        .view(corner.from, corner.to);
    let description = format!(
        "Upper picture: the region of all pairs of people with cancer who are found and people without cancer who are \
         cleared that some classifier reaches, between the best and the worst classifiers. Lower picture: its upper \
         right corner with the {} systems that {} questions asked about, and the line of systems worth as much as \
         the best one at {} false alarms for one missed cancer; it touches the boundary at {:.0} found and {:.0} \
         cleared of 1,000 people.",
        systems.len(),
        transcript.len(),
        two_digits(ratio),
        best.0,
        best.1
    );
    stack("What screening can achieve, and what was asked", &description, &[whole, close])
}

/// The region and its two boundaries; the enlarged corner has no use for the lower one's name.
fn boundaries(space: &Binary, title: &str, lower_label: &str) -> Plot {
    let steps = 2000;
    // Cost ratios from next to nothing to beyond any boundary's end, evenly in the logarithm.
    let log_ratios = (0..=steps).map(|n| 80.0 * f64::from(n) / f64::from(steps) - 40.0);
    let prior = space.positive_prior();
    let mut upper: Vec<_> = log_ratios.map(|log| space.at_angle((-log).exp().atan())).collect();
    upper.dedup();
    let lower: Vec<_> =
        upper.iter().map(|[found, cleared]| per_thousand([prior - found, 1.0 - prior - cleared])).collect();
    let upper: Vec<_> = upper.into_iter().map(per_thousand).collect();
    let region: Vec<_> = upper.iter().chain(&lower).copied().collect();
    Plot::new(title, FOUND, CLEARED)
        .area("", &region)
        .line("best classifiers", &upper)
        .line(lower_label, &lower)
}

fn per_thousand([found, cleared]: [f64; 2]) -> Point {
    (1000.0 * found, 1000.0 * cleared)
}

/// Each system that was asked about, with the number of the question that first showed it.
fn systems(transcript: &[Answered]) -> Vec<(f64, f64, usize)> {
    let mut systems: Vec<(f64, f64, usize)> = vec![];
    for (n, answered) in transcript.iter().enumerate() {
        for asked in [&answered.query.first, &answered.query.second] {
            let (x, y) = per_thousand([asked[0], asked[1]]);
            if !systems.iter().any(|known| (known.0, known.1) == (x, y)) {
                systems.push((x, y, n + 1));
            }
        }
    }
    systems
}

/// The part of the region to enlarge.
struct Corner {
    from: Point,
    to: Point,
}

impl Corner {
    fn around(points: impl Iterator<Item = Point>, best: Point) -> Self {
        let (mut from, mut to) = (best, best);
        for (x, y) in points {
            (from, to) = ((from.0.min(x), from.1.min(y)), (to.0.max(x), to.1.max(y)));
        }
        let margin = |low: f64, high: f64| (0.12 * (high - low)).max(0.5);
        let (dx, dy) = (margin(from.0, to.0), margin(from.1, to.1));
        Self { from: (from.0 - dx, from.1 - dy), to: (to.0 + dx, to.1 + dy) }
    }

    fn outline(&self) -> [Point; 5] {
        let ((left, bottom), (right, top)) = (self.from, self.to);
        [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)]
    }

    /// A line across the corner; what sticks out is cut off by the picture.
    fn line_through(&self, (x, y): Point, slope: f64) -> [Point; 2] {
        [self.from.0, self.to.0].map(|end| (end, y + slope * (end - x)))
    }
}
