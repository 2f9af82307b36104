//! Labels that cover nothing.

use crate::shape::{px, text};
use crate::{CHARACTER, LEFT};
use std::fmt::Write as _;

/// What labels must not cover, and how far they may reach to the right and down.
pub(crate) struct Taken {
    pub(crate) places: Vec<Rectangle>,
    width: f64,
    bottom: f64,
}

#[derive(Clone, Copy)]
pub(crate) struct Rectangle {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rectangle {
    pub(crate) fn around(x: f64, y: f64, half_width: f64, half_height: f64) -> Self {
        Self { left: x - half_width, top: y - half_height, right: x + half_width, bottom: y + half_height }
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

impl Taken {
    pub(crate) fn within(width: f64, bottom: f64) -> Self {
        Self { places: vec![], width, bottom }
    }

    pub(crate) fn keep(&mut self, rectangle: Rectangle) {
        self.places.push(rectangle);
    }

    /// A line, as the small squares along it.
    pub(crate) fn keep_segment(&mut self, [(ax, ay), (bx, by)]: [(f64, f64); 2]) {
        let length = (bx - ax).hypot(by - ay);
        if !length.is_finite() {
            return;
        }
        let steps = (length / 4.0).ceil().clamp(1.0, 500.0);
        for n in 0..=steps as usize {
            let t = n as f64 / steps;
            self.keep(Rectangle::around(ax + t * (bx - ax), ay + t * (by - ay), 1.5, 1.5));
        }
    }

    /// Writes a label at the nearest free place around its dot, joined by a thin line when that is far.
    pub(crate) fn label(&mut self, svg: &mut String, x: f64, y: f64, label: &str) {
        let half_width = 0.5 * CHARACTER * label.chars().count() as f64;
        let inside = Rectangle { left: LEFT, top: 20.0, right: self.width - 2.0, bottom: self.bottom };
        for distance in (0..14).map(|n| 11.0 + 7.0 * f64::from(n)) {
            for direction in 0..16 {
                // Up and to the right first, then around.
                let turn = f64::from((direction + 1) / 2) * if direction % 2 == 0 { 1.0 } else { -1.0 };
                let (sin, cos) =
                    (std::f64::consts::FRAC_PI_4 + turn * std::f64::consts::TAU / 16.0).sin_cos();
                let (cx, cy) = (x + cos * (distance + half_width - 3.0), y - sin * distance);
                let place = Rectangle::around(cx, cy, half_width, 6.5);
                let off = place.left < inside.left
                    || place.right > inside.right
                    || place.top < inside.top
                    || place.bottom > inside.bottom;
                if off || self.places.iter().any(|other| other.meets(&place)) {
                    continue;
                }
                if distance > 12.0 {
                    let (fx, fy) = (x + cos * 6.0, y - sin * 6.0);
                    let (tx, ty) = (cx - cos * half_width, cy + sin * 5.0);
                    let _ = writeln!(
                        svg,
                        "<path class=\"lead\" d=\"M{} {}L{} {}\"/>",
                        px(fx),
                        px(fy),
                        px(tx),
                        px(ty)
                    );
                }
                text(svg, "text small", cx, cy + 4.0, "middle", label);
                self.keep(place);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HEIGHT, WIDTH};

    #[test]
    fn labels_of_neighbouring_dots_do_not_cover_each_other() {
        let mut taken = Taken::within(WIDTH, HEIGHT);
        let mut svg = String::new();
        for n in 0..12 {
            taken.label(&mut svg, 300.0 + f64::from(n), 300.0, "10");
        }
        assert_eq!(taken.places.len(), 12);
        for (n, place) in taken.places.iter().enumerate() {
            assert!(taken.places[..n].iter().all(|other| !other.meets(place)));
        }
    }
}
