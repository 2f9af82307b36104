//! Slice sampling along a line (Neal 2003), which every walk through a posterior takes its steps by.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A step from 0 along a line that leaves a density as it is, with what is there; `None` to stay.
///
/// `log` is the logarithm of the density here. An interval of the given width is thrown over 0 and shrunk towards it for
/// every step to where the density is too low, at most so many times. `at` is told the step and the level to exceed, and says
/// the logarithm there.
pub fn slide<T>(
    log: f64,
    width: f64,
    tries: usize,
    random: &mut Xoshiro256PlusPlus,
    mut at: impl FnMut(f64, f64) -> (f64, T),
) -> Option<(f64, T)> {
    let level = log + random.random::<f64>().ln();
    let mut low = -width * random.random::<f64>();
    let mut high = low + width;
    for _ in 0..tries {
        let step = random.random_range(low..high);
        let there = at(step, level);
        if there.0 > level {
            return Some(there);
        }
        if step < 0.0 {
            low = step
        } else {
            high = step
        }
        if high - low <= 1e-12 {
            break;
        }
    }
    None
}
