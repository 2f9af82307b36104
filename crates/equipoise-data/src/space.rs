//! Which of the classifiers a table allows are asked about.

use crate::sample::Sample;
use crate::table::Table;
use equipoise::population::Population as _;
use equipoise::space::{Achievable, AnySpace, GroupSphere, Sphere};
use equipoise::{Error, Measure, Result};
use std::borrow::Borrow;

/// Below this radius no two classifiers of the ball can be told apart among a million cases.
const SMALLEST_RADIUS: f64 = 1e-5;

impl<T: Borrow<Table>> Sample<T> {
    /// The classifiers that questions about a family of metrics are taken from: thresholds, faces of the diagonals, a
    /// certified ball of error rates, or one common to all groups.
    ///
    /// ```
    /// use equipoise::space::AnySpace;
    /// use equipoise_data::{Sample, Table};
    /// let classes = vec!["no".to_owned(), "yes".to_owned()];
    /// let yes = vec![0.1, 0.3, 0.6, 0.8];
    /// let no = yes.iter().map(|p| 1.0 - p).collect();
    /// let sample = Sample::new(Table::new(classes, vec![0, 0, 1, 1], vec![no, yes])?.data)?;
    /// assert!(matches!(sample.space_for("linear")?, AnySpace::Binary(_)));
    /// assert!(matches!(sample.space_for("quadratic")?, AnySpace::Sphere(_)));
    /// assert!(sample.space_for("group_fair").is_err()); // there are no groups
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn space_for(&self, family: &str) -> Result<AnySpace> {
        let k = self.classes();
        if family.starts_with("group_fair") || family.ends_with("trade_off") {
            if self.groups() < 2 {
                return Err(Error::Mismatch("there are no groups to compare".to_owned()));
            }
            let set = Achievable::new(self, Measure::GroupRates)?;
            let radius = some_room(set.radius(), " in every group")?;
            return Ok(AnySpace::GroupSphere(GroupSphere::new(radius, self.prevalence().group_shares())?));
        }
        if family.starts_with("diagonal") {
            return Ok(AnySpace::Diagonal(self.diagonal_space()?));
        }
        if k == 2 && family.starts_with("linear") {
            return Ok(AnySpace::Binary(self.binary_space()?));
        }
        let set = Achievable::new(self, Measure::OffDiagonalRates)?;
        let radius = some_room(set.radius(), "")?;
        Ok(AnySpace::Sphere(Sphere::new(Measure::OffDiagonalRates, k, radius)?))
    }
}

fn some_room(radius: f64, where_: &str) -> Result<f64> {
    if radius > SMALLEST_RADIUS {
        return Ok(radius);
    }
    Err(Error::Mismatch(format!(
        "the predictions do not tell the classes apart{where_}: there is no ball of error rates to ask about (its radius \
         is {radius:.1e})"
    )))
}
