//! Oracles made of oracles.

use super::{Answer, Oracle, Preference, Query};
use crate::error::{Error, Result};
use crate::view::Point;

/// Asks the same question several times; see [`Oracle::majority`].
#[derive(Debug, Clone)]
pub struct Majority<O> {
    inner: O,
    times: usize,
}

impl<O: Oracle> Majority<O> {
    pub(super) fn new(inner: O, times: usize) -> Result<Self> {
        if times.is_multiple_of(2) {
            let field = "times".to_owned();
            return Err(Error::Number { field, value: times as f64, expected: "an odd number" });
        }
        Ok(Self { inner, times })
    }
}

impl<O: Oracle> Oracle for Majority<O> {
    type Err = O::Err;
    fn prefer(&mut self, query: &Query) -> Result<Answer, O::Err> {
        let mut balance = 0_i64;
        for _ in 0..self.times {
            balance += match self.inner.prefer(query)?.preference {
                Preference::First => 1,
                Preference::Second => -1,
                Preference::CannotTell => 0,
            };
        }
        Ok(match balance {
            1.. => Preference::First,
            0 => Preference::CannotTell,
            _ => Preference::Second,
        }
        .into())
    }
}

/// Counts the questions that pass through.
#[derive(Debug, Clone)]
pub struct Counting<O> {
    inner: O,
    asked: usize,
}

impl<O: Oracle> Counting<O> {
    /// Nothing asked yet.
    pub fn new(inner: O) -> Self {
        Self { inner, asked: 0 }
    }

    /// How many questions were asked.
    pub fn asked(&self) -> usize {
        self.asked
    }
}

impl<O: Oracle> Oracle for Counting<O> {
    type Err = O::Err;
    fn prefer(&mut self, query: &Query) -> Result<Answer, O::Err> {
        self.asked += 1;
        self.inner.prefer(query)
    }
}

/// Asks the inner oracle about mapped points; see [`Oracle::reparametrised`].
#[derive(Debug)]
pub struct Reparametrised<'a, O, F> {
    inner: &'a mut O,
    map: F,
}

impl<'a, O, F> Reparametrised<'a, O, F> {
    pub(super) fn new(inner: &'a mut O, map: F) -> Self {
        Self { inner, map }
    }
}

impl<O: Oracle, F: Fn(&[f64]) -> Point> Oracle for Reparametrised<'_, O, F> {
    type Err = O::Err;
    fn prefer(&mut self, query: &Query) -> Result<Answer, O::Err> {
        self.inner.prefer(&Query::new((self.map)(&query.first), (self.map)(&query.second)))
    }
}

/// A closure that may fail to answer.
#[derive(Debug, Clone)]
pub struct Fallible<F>(pub F);

impl<E, F: FnMut(&Query) -> Result<Answer, E>> Oracle for Fallible<F> {
    type Err = E;
    fn prefer(&mut self, query: &Query) -> Result<Answer, E> {
        (self.0)(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adaptors_compose() -> Result<()> {
        let mut calls = 0;
        let likes_more = |query: &Query| {
            calls += 1;
            if query.first[0] > query.second[0] { Preference::First } else { Preference::Second }
        };
        let mut oracle = Counting::new(likes_more.majority(3)?);
        let query = Query::new(vec![1.0], vec![0.0]);
        let mut mirrored = oracle.reparametrised(|p| vec![-p[0]]);
        assert_eq!(mirrored.prefer(&query).unwrap().preference, Preference::Second);
        assert_eq!(oracle.prefer(&query).unwrap().preference, Preference::First);
        assert_eq!(oracle.asked(), 2);
        assert_eq!(calls, 6);
        assert!((|_: &Query| Preference::First).majority(2).is_err());
        Ok(())
    }
}
