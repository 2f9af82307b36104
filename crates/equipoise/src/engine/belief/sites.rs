//! What the answers say about the weights: a Gaussian, kept by expectation propagation.
//!
//! Weights $\theta$ have the prior $N(0, I/\text{precision})$. Every answer is a site: it says something about one number
//! $t = \langle w, \theta\rangle$, where w is the difference of the two points as they were shown. Expectation
//! propagation replaces each site by a Gaussian in t whose product with the others has the right mean and variance,
//! and revisits all sites until they agree.

use crate::engine::normal::{density, distribution, entropy};
use crate::engine::probit::{Probit, Said};
use crate::linalg::{Matrix, applied, dot, inverse_of_positive, plus, zeros};

#[derive(Debug, Clone)]
struct Site {
    direction: Vec<f64>,
    probit: Probit,
    said: Said,
    precision: f64,
    shift: f64,
}

/// The Gaussian over the weights, and the sites that made it.
#[derive(Debug, Clone)]
pub struct Sites {
    prior_precision: f64,
    sites: Vec<Site>,
    mean: Vec<f64>,
    covariance: Matrix,
}

impl Sites {
    /// Nothing known but the scale.
    pub fn new(dimension: usize, prior_precision: f64) -> Self {
        let mut covariance = zeros(dimension);
        (0..dimension).for_each(|i| covariance[i][i] = 1.0 / prior_precision);
        Self { prior_precision, sites: vec![], mean: vec![0.0; dimension], covariance }
    }

    /// A Gaussian known by its mean and its covariance, without sites.
    pub fn from_moments(mean: Vec<f64>, covariance: Matrix) -> Self {
        Self { prior_precision: 1.0, sites: vec![], mean, covariance }
    }

    /// Number of weights.
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// The mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance.
    pub fn covariance(&self) -> &Matrix {
        &self.covariance
    }

    /// The precision of the round prior.
    pub fn prior_precision(&self) -> f64 {
        self.prior_precision
    }

    /// All that was said, and of which w: answers and signs.
    pub fn evidence(&self) -> impl Iterator<Item = (&[f64], Probit, Said)> {
        self.sites.iter().map(|site| (&site.direction[..], site.probit, site.said))
    }

    /// $\Sigma w$.
    pub fn spread(&self, w: &[f64]) -> Vec<f64> {
        applied(&self.covariance, w)
    }

    /// Adds a site without yet making all agree.
    pub fn add(&mut self, direction: Vec<f64>, probit: Probit, said: Said) {
        self.sites.push(Site { direction, probit, said, precision: 0.0, shift: 0.0 });
    }

    /// Revisits all sites, newest first, until none moves by more than `tolerance` or `sweeps` are done.
    pub fn settle(&mut self, sweeps: usize, tolerance: f64) {
        self.rebuild();
        for _ in 0..sweeps {
            let mut largest = 0.0_f64;
            for n in (0..self.sites.len()).rev() {
                largest = largest.max(self.visit(n));
            }
            self.rebuild();
            if largest < tolerance {
                break;
            }
        }
    }

    /// How likely site n is, lapses aside, if it is taken out and all others stay; `None` for "can't tell".
    ///
    /// Only the direction of the weights counts: their length, which answers say little about, cannot turn a sign.
    pub fn chance_without(&self, n: usize) -> Option<f64> {
        let Site { direction: w, probit, said, precision, shift } = self.sites.get(n)?;
        if *said == Said::Within {
            return None;
        }
        let spread = self.spread(w);
        let (variance, along) = (dot(w, &spread), dot(w, &self.mean));
        let left = 1.0 - precision * variance;
        if left <= 1e-10 || variance <= 0.0 {
            return None;
        }
        let mean = plus(&self.mean, (precision * along - shift) / left, &spread);
        let length = dot(&mean, &mean).max(1e-300);
        let across = plus(w, -dot(w, &mean) / length, &mean);
        let widened = dot(&across, &self.spread(&across)) + dot(&across, &spread).powi(2) * precision / left;
        Some(distribution(dot(w, &mean) / (probit.variance + widened.max(0.0)).max(1e-300).sqrt()))
    }

    /// What the answer to a pair is expected to tell about the weights, in bits: the entropy of the answer less what noise
    /// puts into it.
    pub fn bits(&self, w: &[f64], probit: Probit) -> f64 {
        let mean = dot(w, self.mean());
        let variance = dot(w, &self.spread(w)).max(0.0);
        let slack = 1.0 - 2.0 * probit.lapse;
        let odds =
            probit.lapse + slack * distribution(mean / (variance + probit.variance).sqrt().max(1e-300));
        // The midpoint rule over ten standard deviations.
        let (nodes, deviation, scale) = (200, variance.sqrt(), probit.variance.sqrt().max(1e-300));
        let step = 10.0 / f64::from(nodes);
        let noise: f64 = (0..nodes)
            .map(|n| {
                let x = -5.0 + (f64::from(n) + 0.5) * step;
                step * density(x)
                    * entropy(probit.lapse + slack * distribution((mean + deviation * x) / scale))
            })
            .sum();
        (entropy(odds) - noise).max(0.0)
    }

    /// One site: take its Gaussian out, see what the evidence says of the rest, put a better Gaussian in.
    fn visit(&mut self, n: usize) -> f64 {
        let site = &self.sites[n];
        let spread = self.spread(&site.direction);
        let variance = dot(&site.direction, &spread);
        let mean = dot(&site.direction, &self.mean);
        let left = 1.0 - site.precision * variance;
        if left <= 1e-10 || variance <= 0.0 {
            return 0.0;
        }
        let (cavity_variance, cavity_mean) = (variance / left, (mean - site.shift * variance) / left);
        let (first, second) = site.probit.moments(site.said, cavity_mean, cavity_variance);
        let new_variance =
            (cavity_variance - cavity_variance * cavity_variance * second).max(1e-14 * cavity_variance);
        let new_mean = cavity_mean + cavity_variance * first;
        let mut precision_step = 1.0 / new_variance - 1.0 / cavity_variance - site.precision;
        let mut shift_step = new_mean / new_variance - cavity_mean / cavity_variance - site.shift;
        if !site.probit.is_certain(site.said) {
            // Lapses make the evidence bounded below; damping keeps the sites from swinging.
            precision_step *= 0.9;
            shift_step *= 0.9;
        }
        let scale = 1.0 + precision_step * variance;
        if scale <= 1e-10 || !precision_step.is_finite() || !shift_step.is_finite() {
            return 0.0;
        }
        let factor = precision_step / scale;
        for (row, s) in self.covariance.iter_mut().zip(&spread) {
            let f = factor * s;
            row.iter_mut().zip(&spread).for_each(|(c, s)| *c -= f * s);
        }
        let along = (shift_step - precision_step * mean) / scale;
        self.mean.iter_mut().zip(&spread).for_each(|(m, s)| *m += along * s);
        let site = &mut self.sites[n];
        site.precision += precision_step;
        site.shift += shift_step;
        let moved = along * variance / variance.sqrt();
        moved.abs().max((1.0 / scale - 1.0).abs())
    }

    /// Mean and covariance from the sites, without the rounding of many small updates.
    fn rebuild(&mut self) {
        let d = self.mean.len();
        let mut precision = zeros(d);
        let mut shift = vec![0.0; d];
        for i in 0..d {
            precision[i][i] = self.prior_precision;
        }
        for site in &self.sites {
            if site.precision == 0.0 && site.shift == 0.0 {
                continue;
            }
            for i in 0..d {
                let f = site.precision * site.direction[i];
                if f != 0.0 {
                    let row = &mut precision[i][..=i];
                    row.iter_mut().zip(&site.direction).for_each(|(p, w)| *p += f * w);
                }
                shift[i] += site.shift * site.direction[i];
            }
        }
        if let Some(covariance) = inverse_of_positive(&precision) {
            self.mean = applied(&covariance, &shift);
            self.covariance = covariance;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{direction, normals};
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// One weight, one answer: the moments can be integrated numerically.
    #[test]
    fn a_single_site_has_the_exact_mean_and_variance() {
        let fuzzy = |variance: f64, lapse: f64, half_width: f64| Probit { variance, lapse, half_width };
        let cases = [
            (fuzzy(0.3, 0.0, 0.0), Said::Positive),
            (fuzzy(0.01, 0.1, 0.0), Said::Positive),
            (fuzzy(0.01, 0.1, 0.4), Said::Positive),
            (fuzzy(0.05, 0.0, 0.4), Said::Within),
            (fuzzy(0.05, 0.1, 0.4), Said::Within),
        ];
        for (probit, said) in cases {
            let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
            for n in -40_000..=40_000 {
                let t = f64::from(n) * 2e-4;
                let weight = density(t) * probit.chance(said, t, 0.0);
                mass += weight;
                first += weight * t;
                second += weight * t * t;
            }
            let mean = first / mass;
            let variance = second / mass - mean * mean;
            let mut posterior = Sites::new(1, 1.0);
            posterior.add(vec![1.0], probit, said);
            posterior.settle(60, 1e-12);
            assert!((posterior.mean()[0] - mean).abs() < 1e-6, "{probit:?} {said:?}");
            assert!((posterior.covariance()[0][0] - variance).abs() < 1e-6, "{probit:?} {said:?}");
        }
    }

    /// People who know what they want cannot tell two points that differ a lot, on either side: whatever the reason, the
    /// posterior stays in proportion.
    #[test]
    fn no_answer_throws_the_posterior_out_of_proportion() {
        let d = 42;
        let axis = |i: usize, along: f64| -> Vec<f64> {
            (0..d).map(|j| f64::from(u8::from(j == i)) + if j == 0 { along } else { 0.0 }).collect()
        };
        let sharp = Probit { variance: 1e-6, lapse: 0.0, half_width: 0.01 };
        for side in [1.0, -1.0] {
            let mut posterior = Sites::new(d, 1.0);
            for i in 1..d {
                // Both slivers together: weight i is next to nothing beside the first.
                for sign in [1.0, -1.0] {
                    let w: Vec<f64> = axis(i, 0.0).iter().map(|x| sign * x).collect();
                    let w = plus(&w, 0.02, &axis(0, 0.0));
                    posterior.add(w, sharp.decided(), Said::Positive);
                }
            }
            posterior.settle(30, 1e-6);
            let before = posterior.mean()[0];
            posterior.add(axis(0, side - 1.0), sharp, Said::Within);
            posterior.settle(30, 1e-6);
            let all = posterior.mean().iter().chain(posterior.covariance.iter().flatten());
            assert!(all.into_iter().all(|x| x.abs() < 100.0), "{before} {:?}", posterior.mean());
            assert!(posterior.mean()[0].abs() < 0.1, "{before} {:?}", posterior.mean());
        }
    }

    /// Mass, mean and covariance by plain integration over the prior, cells of this size.
    fn integrated(posterior: &Sites, step: f64) -> (f64, Vec<f64>, Vec<f64>) {
        let size = posterior.dimension();
        let places = (10.0_f64 / step).round() as usize;
        let (mut mass, mut first, mut second) = (0.0, vec![0.0; size], vec![0.0; size * size]);
        for cell in 0..places.pow(size as u32) {
            let coordinate = |i: usize| -5.0 + step * ((cell / places.pow(i as u32) % places) as f64 + 0.5);
            let theta: Vec<f64> = (0..size).map(coordinate).collect();
            let each = |(w, probit, said): (&[f64], Probit, Said)| probit.log_chance(said, dot(w, &theta));
            let said: f64 = posterior.evidence().map(each).sum();
            let weight = (said - 0.5 * dot(&theta, &theta)).exp();
            mass += weight;
            for i in 0..size {
                first[i] += weight * theta[i];
                (0..size).for_each(|j| second[i * size + j] += weight * theta[i] * theta[j]);
            }
        }
        let mean: Vec<f64> = first.iter().map(|x| x / mass).collect();
        let entry = |n: usize| second[n] / mass - mean[n / size] * mean[n % size];
        let covariance = (0..size * size).map(entry).collect();
        (mass, mean, covariance)
    }

    #[track_caller]
    fn is_near(posterior: &Sites, step: f64, bound: f64) {
        let (_, mean, covariance) = integrated(posterior, step);
        let exact = mean.iter().chain(&covariance);
        let largest = (posterior.mean.iter().chain(posterior.covariance.iter().flatten()).zip(exact))
            .fold(0.0_f64, |most, (found, exact)| most.max((found - exact).abs()));
        assert!(largest < bound, "{largest}: {posterior:?} {mean:?} {covariance:?}");
    }

    /// Several weights, answers of both kinds.
    #[test]
    fn a_few_answers_about_several_weights_have_nearly_the_exact_moments() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for (d, step) in [(2, 0.1), (3, 0.25), (4, 0.4)] {
            let mut posterior = Sites::new(d, 1.0);
            for n in 0..6 {
                let w = direction(&normals(d, &mut random)).unwrap();
                let lapse = if n % 2 == 0 { 0.0 } else { 0.05 };
                let unsure = Probit { variance: 0.3, lapse, half_width: 0.5 };
                match n {
                    4 => posterior.add(w, unsure, Said::Within),
                    _ => posterior.add(w, unsure.decided(), Said::Positive),
                }
            }
            posterior.settle(200, 1e-10);
            is_near(&posterior, step, 0.02);
        }
    }

    /// People who also say "can't tell": everything they say is read with its half width.
    ///
    /// What EP promises is that along every answer's own direction mean and variance are those of that answer taken
    /// exactly and the others as normal; this holds to the last digits, so the reading of "can't tell" is right. What is
    /// left is how the shapes of several answers meet. Without lapses every likelihood is log-concave: in 30 random cases of
    /// two to four weights the largest error was .004. With them the posterior is a mixture over which
    /// answers were none, all but the first part of it with a probability of `lapsed`, and no weight varies by more than the
    /// prior's 1: so much more it may be off.
    #[test]
    fn somebody_who_also_hesitates_has_nearly_the_exact_moments() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        for (d, step) in [(2, 0.1), (3, 0.25), (4, 0.4)] {
            for round in 0..3 {
                let mut posterior = Sites::new(d, 1.0);
                for n in 0..8 {
                    let w = direction(&normals(d, &mut random)).unwrap();
                    let lapse = if round == 0 { 0.0 } else { 0.02 };
                    let unsure = Probit { variance: 0.3, lapse, half_width: 0.5 };
                    let said = if n % 2 == 0 { Said::Within } else { Said::Positive };
                    posterior.add(w, unsure, said);
                }
                posterior.settle(500, 1e-12);
                for site in &posterior.sites {
                    let w = &site.direction;
                    let (mean, variance) = (dot(w, &posterior.mean), dot(w, &posterior.spread(w)));
                    let left = 1.0 - site.precision * variance;
                    let (cavity, around) = (variance / left, (mean - site.shift * variance) / left);
                    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
                    for n in -4_000..=4_000 {
                        let z = f64::from(n) * 2e-3;
                        let t = around + z * cavity.sqrt();
                        let weight = density(z) * site.probit.chance(site.said, t, 0.0);
                        mass += weight;
                        first += weight * t;
                        second += weight * t * t;
                    }
                    let exact = first / mass;
                    assert!((mean - exact).abs() < 1e-6, "{d} {round}: {mean} {exact}");
                    let exact = second / mass - exact * exact;
                    assert!((variance - exact).abs() < 1e-6, "{d} {round}: {variance} {exact}");
                }
                let mut attentive = posterior.clone();
                attentive.sites.iter_mut().for_each(|site| site.probit.lapse = 0.0);
                let [without, with] = [&attentive, &posterior].map(|sites| integrated(sites, step).0);
                let meant: f64 = posterior.sites.iter().map(|site| 1.0 - 2.0 * site.probit.lapse).product();
                let lapsed = 1.0 - meant * without / with;
                is_near(&posterior, step, 0.01 + lapsed.max(0.0));
            }
        }
    }

    #[test]
    fn an_even_question_tells_a_bit_and_noise_takes_from_it() {
        let sites = Sites::new(2, 1.0);
        let bits =
            |variance: f64, lapse: f64| sites.bits(&[1.0, 0.0], Probit { variance, lapse, half_width: 0.0 });
        assert!((bits(1e-12, 0.0) - 1.0).abs() < 1e-3);
        // A channel that flips one answer in ten carries 1 - H(.1) bits.
        assert!((bits(1e-12, 0.1) - (1.0 - entropy(0.1))).abs() < 1e-3);
        assert!(bits(1.0, 0.0) < 0.5 && bits(100.0, 0.0) < 0.01);
    }
}
