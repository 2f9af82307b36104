//! What is asked about a table and when it ends: the same options for `elicit` and `plan`.

use super::{inner_share, positive};
use clap::Args;

/// What is asked about a table, and when it ends.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Questions")]
pub struct Asking {
    /// What kind of metric to look for [default: linear]
    #[arg(long, value_name = "FAMILY", value_parser = [
        "linear", "linear_fractional", "quadratic", "polynomial", "group_fair", "group_fair_quadratic",
    ])]
    pub family: Option<String>,
    /// How to ask: adaptive, antipodal or paper [default: the first of these the family has]
    #[arg(long, value_name = "METHOD", value_parser = ["adaptive", "antipodal", "paper"])]
    pub method: Option<String>,
    /// Which classifier questions are asked around: model (the most likely class), balanced, the best one for a METRIC, the
    /// one of another TABLE of predictions, or coin, a ball around the toss of a coin [default: model where a person or a
    /// program is asked about the linear metric of more than two classes or a group-fair one of two groups, else coin]
    #[arg(long, value_name = "WHAT", allow_hyphen_values = true)]
    pub around: Option<String>,
    /// What questions are about: pairs of classifiers, or single cases ("a case with a risk of 30 %: act or not?"), for the cost
    /// ratio of two classes [default: pairs]
    #[arg(long, value_name = "WHAT", value_parser = ["pairs", "cases"])]
    pub ask: Option<String>,
    /// Ask until the rule that follows is expected to cost at most this much more than the best one for you, as a share
    #[arg(long, value_name = "SHARE", value_parser = inner_share)]
    pub regret: Option<f64>,
    /// Ask until the ends of a cost ratio's interval differ by this factor
    #[arg(long, value_name = "FACTOR", value_parser = positive, conflicts_with = "tolerance")]
    pub width: Option<f64>,
    /// Ask until the weights are known to this angle, in radians
    #[arg(long, value_name = "T", value_parser = positive)]
    pub tolerance: Option<f64>,
    /// At most this many questions, where the method can stop early [default: 30 for a person or a program]
    #[arg(long, value_name = "N")]
    pub budget: Option<usize>,
    /// How answers are believed to come about: exact, flip:P, logistic:S or unknown [default: unknown; exact for an --oracle
    /// without --noise that is asked about a ball of error rates, which nobody real is]
    #[arg(long, value_name = "MODEL", value_parser = worded)]
    pub answers: Option<Worded>,
    /// After the questions ask this many more, which tell whether a linear metric explains the answers [default: as many as
    /// the questions allow for a person or a program, else 0]
    #[arg(long, value_name = "N")]
    pub probes: Option<usize>,
}

impl Asking {
    /// What kind of metric is looked for.
    pub fn family(&self) -> &str {
        self.family.as_deref().unwrap_or("linear")
    }

    /// Whether single cases are asked about.
    pub fn about_cases(&self) -> bool {
        self.ask.as_deref() == Some("cases")
    }

    /// The options that were given, as they are typed.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--family", self.family.is_some()),
            ("--method", self.method.is_some()),
            ("--around", self.around.is_some()),
            ("--ask", self.ask.is_some()),
            ("--regret", self.regret.is_some()),
            ("--width", self.width.is_some()),
            ("--tolerance", self.tolerance.is_some()),
            ("--budget", self.budget.is_some()),
            ("--answers", self.answers.is_some()),
            ("--probes", self.probes.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

/// A word with a number, as in `logistic:20`.
#[derive(Debug, Clone, PartialEq)]
pub struct Worded {
    /// The word.
    pub kind: String,
    /// What stands after the colon.
    pub number: Option<f64>,
}

/// Reads a word with a number.
pub fn worded(text: &str) -> Result<Worded, String> {
    let (kind, number) = match text.split_once(':') {
        None => (text, None),
        Some((kind, number)) => {
            let parsed = number.parse::<f64>().ok().filter(|number| number.is_finite());
            let parsed =
                parsed.ok_or_else(|| format!("found \"{number}\" after the colon, expected a number"))?;
            (kind, Some(parsed))
        }
    };
    Ok(Worded { kind: kind.to_owned(), number })
}
