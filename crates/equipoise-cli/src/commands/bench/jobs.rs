//! Many jobs on all cores.

use super::Settings;
use crate::progress::Progress;
use equipoise::stream;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

/// Runs a job per metric on all cores, each with a generator of its own.
pub(super) fn each<T: Send>(
    settings: &Settings,
    label: &str,
    job: impl Fn(u64, &mut Xoshiro256PlusPlus) -> T + Sync,
) -> Vec<T> {
    let progress = Progress::new(label, settings.metrics, settings.progress);
    let one = |n: u64| {
        // Streams of the metric's number, so that the figures that were published with a seed are still drawn by it.
        let seed = stream(n, settings.seed.wrapping_sub(1));
        let result = job(n, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        progress.step();
        result
    };
    (0..settings.metrics as u64).into_par_iter().map(one).collect()
}
