//! From columns to rows where a table is read piece by piece, and all its labels are known.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and counts of rows that were read fit in 64 bits"
)]

use super::assemble::{Classes, Taken, class_codes, renumber, rescale, said_missing};
use super::column::{Column, Met, Moved};
use super::columns::{Choice, Columns, Scale};
use crate::error::{Error, Kind, Result};
use crate::note::Note;
use crate::table::{MOST_GROUPS, Rescaled, Table};
use serde::{Deserialize, Serialize};

/// How columns become rows once all labels are known, the same for every piece.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Layout {
    pub(crate) classes: Vec<String>,
    /// The group names, crossed; none without groups.
    pub(crate) groups: Vec<String>,
    columns: Vec<usize>,
    scale: Scale,
    /// For each group column its names in order, and the combinations of them that occur, in order: one for each group.
    parts: Vec<Vec<String>>,
    combinations: Vec<Vec<u16>>,
}

impl Layout {
    /// From the labels that were met in the group columns, and which of them go together; what to say about groups.
    pub(crate) fn new(
        options: &Columns,
        choice: &Choice,
        classes: Classes,
        met: Vec<Vec<Met>>,
        combinations: &[Vec<u16>],
    ) -> Result<(Self, Vec<Note>)> {
        let column = |n: usize| choice.wants[choice.parts.groups[n]].name.as_str();
        let notes = met.iter().enumerate().flat_map(|(n, met)| said_missing(column(n), met)).collect();
        let named = |met: Vec<Met>| renumber(met.into_iter().map(|met| met.name).collect());
        let (parts, renumbered): (Vec<_>, Vec<_>) = met.into_iter().map(named).unzip();
        let mut found: Vec<Vec<u16>> = match &parts[..] {
            [] => vec![],
            [names] => (0..names.len()).map(|code| vec![code as u16]).collect(),
            _ => {
                let code = |(n, &code): (usize, &u16)| renumbered[n][usize::from(code)];
                combinations.iter().map(|codes| codes.iter().enumerate().map(code).collect()).collect()
            }
        };
        found.sort();
        if found.len() > MOST_GROUPS {
            let what = format!("{} combinations of groups", found.len());
            return Err(Error::new(Kind::Count, what, format!("at most {MOST_GROUPS}")));
        }
        let group = |codes: &Vec<u16>| {
            let names = codes.iter().zip(&parts).map(|(&code, names)| names[usize::from(code)].as_str());
            names.collect::<Vec<_>>().join(" & ")
        };
        let groups = found.iter().map(group).collect();
        let Classes { names, columns, .. } = classes;
        let scale = options.scores_are();
        Ok((Self { classes: names, groups, columns, scale, parts, combinations: found }, notes))
    }

    /// Number of groups; 1 without groups.
    pub(crate) fn group_count(&self) -> usize {
        self.groups.len().max(1)
    }

    /// The code of a group by the names of its parts; 0 without groups.
    pub(crate) fn group(&self, names: &[String]) -> Option<u16> {
        if names.is_empty() {
            return Some(0);
        }
        let place = |(name, names): (&String, &Vec<String>)| names.iter().position(|other| other == name);
        let places = names.iter().zip(&self.parts).map(|pair| place(pair).map(|place| place as u16));
        let codes = places.collect::<Option<Vec<u16>>>()?;
        self.combinations.binary_search(&codes).ok().map(|place| place as u16)
    }

    /// Some rows as a table; what was rescaled and moved in it.
    pub(crate) fn table(&self, choice: &Choice, columns: Vec<Column>) -> Result<(Table, Rescaled, Moved)> {
        let (parts, mut columns) = (&choice.parts, Taken(columns.into_iter().map(Some).collect()));
        let (truth, met) = columns.labels(parts.truth);
        let code = class_codes(&met, &self.classes);
        let truth: Vec<u8> = truth.into_iter().map(|label| code[usize::from(label)]).collect();
        let rows = truth.len();
        let mut moved = Moved::default();
        let mut probabilities = Vec::with_capacity(self.classes.len());
        for &want in &self.columns {
            let (values, moved_here) = columns.numbers(want);
            moved.absorb(moved_here);
            probabilities.push(values);
        }
        let first_score = &choice.wants[parts.scores[0].want].name;
        rescale(self.scale, &mut probabilities).map_err(|error| error.column(first_score))?;
        if probabilities.len() == 1 {
            let negative = probabilities[0].iter().map(|p| 1.0 - p).collect();
            probabilities.insert(0, negative);
        }
        let (table, rescaled) = Table::part(self.classes.clone(), truth, probabilities)?;
        let mut own = Vec::with_capacity(parts.groups.len());
        for (&want, names) in parts.groups.iter().zip(&self.parts) {
            let (codes, met) = columns.labels(want);
            let place = |met: &Met| names.iter().position(|name| *name == met.name).unwrap_or(0) as u16;
            let places: Vec<u16> = met.iter().map(place).collect();
            own.push(codes.into_iter().map(|code| places[usize::from(code)]).collect::<Vec<u16>>());
        }
        let groups = match &own[..] {
            [] => None,
            [codes] => Some(codes.clone()),
            several => {
                let of_row = |row: usize| -> Vec<u16> { several.iter().map(|codes| codes[row]).collect() };
                Some(
                    (0..rows)
                        .map(|row| self.combinations.binary_search(&of_row(row)).unwrap_or(0) as u16)
                        .collect(),
                )
            }
        };
        let weights = parts.weight.map(|want| columns.numbers(want).0);
        Ok((table.with_part(groups.map(|codes| (&self.groups[..], codes)), weights), rescaled, moved))
    }
}
