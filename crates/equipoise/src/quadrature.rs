//! Integrals of smooth functions: nodes and weights of a rule that is exact to rounding on narrow panels.

/// The places in [low, high] to take a function's value at, and what each counts.
pub(crate) fn nodes(low: f64, high: f64) -> impl Iterator<Item = (f64, f64)> {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    GAUSS
        .into_iter()
        .flat_map(move |(node, weight)| [-1.0, 1.0].map(|sign| (middle + sign * node * half, weight * half)))
}

/// Positive nodes and weights of the 20-point Gauss-Legendre rule on [-1, 1].
const GAUSS: [(f64, f64); 10] = [
    (0.076_526_521_133_497_33, 0.152_753_387_130_725_85),
    (0.227_785_851_141_645_08, 0.149_172_986_472_603_75),
    (0.373_706_088_715_419_56, 0.142_096_109_318_382_05),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.636_053_680_726_515, 0.118_194_531_961_518_42),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_06),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];
