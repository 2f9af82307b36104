//! Changes good inputs until they are bad, the same way for the same seed.
//!
//! No coverage is looked at: stable Rust has none to look at. What finds most all the same is kept: pieces of other inputs, the
//! tokens of a format, numbers at the ends of their ranges, bytes cut, doubled, flipped.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Where numbers go wrong, and what ends or begins something in many formats.
const TELLING: &[&[u8]] = &[
    b"0",
    b"-1",
    b"1e309",
    b"-1e309",
    b"1e-320",
    b"NaN",
    b"inf",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"2147483648",
    b"0.0000000000000000000000001",
    b"null",
    b"true",
    b"\"",
    b"'",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[[",
    b",",
    b":",
    b";",
    b"=",
    b"&",
    b"%",
    b"%00",
    b"%ff",
    b"\0",
    b"\n",
    b"\r\n",
    b"\t",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\x28",
    b"\xf0\x9f\x98\x80",
    b"#",
    b"--",
    b"-",
    b"..",
    b"/",
    b"../",
    b"\x1b[2J",
    b"=1+1",
    b"\"\"\"",
    b"a.b.c",
    b"[x]\n",
    b"x = 1\n",
];

/// Inputs of one kind that are changed.
#[derive(Debug)]
pub struct Corpus {
    good: Vec<Vec<u8>>,
    /// An input is no longer than this.
    longest: usize,
}

impl Corpus {
    /// Good inputs, of which there is at least one.
    pub fn new(good: Vec<Vec<u8>>) -> Self {
        let longest = good.iter().map(Vec::len).max().unwrap_or(0) * 2 + 64;
        Self { good, longest }
    }

    /// The input of a number: every thousandth is as it was, all others are changed.
    pub fn input(&self, seed: u64, number: u64) -> Vec<u8> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut input = self.any(&mut random).to_vec();
        if !number.is_multiple_of(1_000) {
            for _ in 0..1 << random.random_range(0..4) {
                self.change(&mut input, &mut random);
            }
        }
        input.truncate(self.longest);
        input
    }

    fn any(&self, random: &mut Xoshiro256PlusPlus) -> &[u8] {
        &self.good[random.random_range(0..self.good.len())]
    }

    fn change(&self, input: &mut Vec<u8>, random: &mut Xoshiro256PlusPlus) {
        let length = input.len();
        let at = random.random_range(0..=length);
        let piece = |random: &mut Xoshiro256PlusPlus, of: &[u8]| {
            let from = random.random_range(0..=of.len());
            let most = (of.len() - from).min(1 << random.random_range(0..10));
            of[from..from + random.random_range(0..=most)].to_vec()
        };
        match random.random_range(0..9) {
            0 if at < length => input[at] ^= 1 << random.random_range(0..8),
            1 if at < length => input[at] = random.random(),
            2 => input.truncate(at),
            3 => {
                let to = (at + piece(random, input).len()).min(length);
                input.drain(at..to);
            }
            4 => {
                let again = piece(random, input);
                input.splice(at..at, again);
            }
            5 => {
                let other = self.any(random).to_vec();
                let other = piece(random, &other);
                input.splice(at..at, other);
            }
            6 => {
                let token = TELLING[random.random_range(0..TELLING.len())];
                input.splice(at..at, token.iter().copied());
            }
            7 => {
                // In the place of a number, where there is one.
                let Some(from) = input[at..].iter().position(u8::is_ascii_digit).map(|more| at + more) else {
                    return;
                };
                let digits = input[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let token = TELLING[random.random_range(0..14)];
                input.splice(from..from + digits, token.iter().copied());
            }
            _ => {
                // Lengths in binary formats.
                let to = (at + 4).min(length);
                let value: u32 = [0, 1, 0x7fff_ffff, 0xffff_ffff][random.random_range(0..4)];
                input.splice(at..to, value.to_le_bytes());
            }
        }
    }
}

/// What came of many inputs.
#[derive(Debug, Clone)]
pub struct Tried {
    /// How many.
    pub inputs: usize,
    /// How many were taken.
    pub taken: usize,
    /// The longest one took.
    pub slowest: Duration,
}

/// Tries many inputs on something that says whether it takes them.
///
/// # Panics
///
/// If it does, with the seed and the number that repeat it; or if one input takes longer than ten seconds.
pub fn run(
    name: &str,
    corpus: &Corpus,
    seed: u64,
    inputs: usize,
    mut takes: impl FnMut(&[u8]) -> bool,
) -> Tried {
    let mut tried = Tried { inputs, taken: 0, slowest: Duration::ZERO };
    for number in 0..inputs as u64 {
        let input = corpus.input(seed, number);
        let begun = Instant::now();
        let taken = catch_unwind(AssertUnwindSafe(|| takes(&input)));
        tried.slowest = tried.slowest.max(begun.elapsed());
        match taken {
            Ok(taken) => tried.taken += usize::from(taken),
            Err(_) => panic!("{name} panicked at input {number} of seed {seed}"),
        }
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{name} took {:?} for input {number} of seed {seed}",
            begun.elapsed()
        );
    }
    tried
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_most_are_new() {
        let corpus = Corpus::new(vec![b"{\"a\": 1}".to_vec(), b"[2, 3]".to_vec()]);
        let made: Vec<Vec<u8>> = (0..500).map(|n| corpus.input(7, n)).collect();
        assert!(made.iter().eq((0..500).map(|n| corpus.input(7, n)).collect::<Vec<_>>().iter()));
        let different: std::collections::BTreeSet<_> = made.iter().collect();
        assert!(different.len() > 400, "{}", different.len());
        assert!(made.iter().all(|input| input.len() <= corpus.longest));
    }

    #[test]
    #[should_panic(expected = "panicked at input")]
    fn a_panic_is_told_with_its_number() {
        let corpus = Corpus::new(vec![b"abc".to_vec()]);
        run("nothing", &corpus, 1, 100, |input| input.first() != Some(&b'a') || panic!("found"));
    }
}
