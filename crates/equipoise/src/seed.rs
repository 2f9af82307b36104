//! One seed, many streams.

/// The seed of stream `number` of a seed: streams of one seed are far apart, and so are those of neighbouring seeds.
///
/// ```
/// use equipoise::stream;
/// assert_eq!(stream(7, 0), stream(7, 0));
/// assert!(stream(7, 0) != stream(7, 1) && stream(7, 1) != stream(8, 0));
/// ```
pub fn stream(seed: u64, number: u64) -> u64 {
    // Steps of the golden ratio, as a part of 2^64, leave the largest gaps.
    seed.wrapping_add(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number.wrapping_add(1)))
}
