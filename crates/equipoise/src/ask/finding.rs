//! What a procedure has to say about its result besides the numbers.

use serde::Serialize;

/// Evidence, in bits, from which on the quadratic metric is preferred.
///
/// Evidence this strong comes about by chance in at most one case in thirty-two (Markov's inequality).
pub(crate) const DECISIVE: f64 = 5.0;

/// Ways to answer without looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Guess {
    /// By tossing a coin.
    Coin,
    /// Mostly the same side.
    Side,
    /// Mostly in turns.
    Turns,
    /// Mostly by saying that they cannot tell.
    Undecided,
}

/// A remark about an outcome. Ambiguities mean that other metrics give the same answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// On the face of classes 0 and `class` a range of weight ratios leads to the same classifiers.
    FlatFace {
        /// The class compared with class 0.
        class: usize,
        /// Smallest ratio (weight of `class` over weight of class 0) with the same answers.
        low: f64,
        /// Largest such ratio; `None` stands for no upper limit.
        high: Option<f64>,
    },
    /// At this end of the boundary a range of slopes leads to the same classifier.
    FlatBoundary {
        /// Smallest angle with the same answers, radians.
        low: f64,
        /// Largest.
        high: f64,
    },
    /// The denominator of a fraction is known up to one parameter only; the order of classifiers is not affected.
    FractionalGauge {
        /// Which representative is reported.
        gauge: String,
    },
    /// Both tangents are the same line within tolerance: a linear metric, or one whose numerator is unknown.
    DegeneratePencil,
    /// The slopes differ by less than the search resolves, or in one direction only: the matrix is a multiple of
    /// $dd^T$ to within tolerance, which orders classifiers like the linear part alone.
    OrdinallyLinear {
        /// Second smallest over largest singular value of the system.
        conditioning: f64,
    },
    /// More than one polynomial fits the slopes.
    AmbiguousPolynomial {
        /// Second smallest over largest singular value of the system.
        conditioning: f64,
    },
    /// Performance and fairness pull in the same direction, so their trade-off cannot be seen.
    ParallelTradeOff,
    /// The answers contradict the family; part of the metric was set to a neutral value.
    Inconsistent {
        /// What was replaced, and by what.
        what: String,
    },
    /// The result is the linear approximation of the metric at its best classifier.
    Local,
    /// The search is biased by about this much in the trade-off, because the metric is curved.
    CurvatureBias {
        /// In units of the trade-off.
        about: f64,
    },
    /// Why an adaptive plan stopped asking.
    Stopped {
        /// The rule that ended it.
        rule: String,
        /// How many questions were asked.
        questions: usize,
        /// The 95 % angular radius reached, or for a cost ratio the logarithm of its interval's width.
        radius: f64,
    },
    /// The interval of a two-class cost ratio.
    RatioInterval {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// How likely the truth is inside.
        level: f64,
    },
    /// A two-class cost ratio that the answers bound on one side at most: beyond what the data can tell.
    RatioBeyond {
        /// It is at least this, if anything.
        at_least: Option<f64>,
        /// It is at most this, if anything.
        at_most: Option<f64>,
        /// How likely.
        level: f64,
    },
    /// A kind of error outweighs all others by more than the data can tell.
    WeightBeyond {
        /// Its place among the weights.
        kind: usize,
    },
    /// Nothing was left to ask that tells enough, and the goal is not reached.
    GoalMissed {
        /// The rule that ended the questions.
        rule: String,
    },
    /// The answers may come from somebody who does not look at the questions.
    LikeChance {
        /// How much likelier they are from somebody with a metric.
        factor: f64,
        /// Than from what.
        than: Guess,
    },
    /// Probes were answered otherwise than a metric of this family does that explains the other answers.
    ProbesObject {
        /// So many of them.
        wrong: usize,
        /// Of so many.
        probes: usize,
    },
    /// Beyond some number of an attribute nothing seems to make up for it, which weights do not say.
    Limit {
        /// The attribute.
        attribute: String,
        /// About there.
        at: f64,
        /// Whether what lies above is refused, rather than what lies below.
        above: bool,
        /// How much likelier that makes the answers.
        factor: f64,
    },
    /// The first steps of an attribute from its worse end seem to be worth more than the last ones.
    Diminishing {
        /// The attribute.
        attribute: String,
        /// How much likelier that makes the answers.
        factor: f64,
    },
    /// What the rule that follows from the answers is regretted.
    Regret {
        /// How much more than the best one it is expected to cost, as a share.
        expected: f64,
        /// At most so much with 95 % certainty.
        bound: f64,
    },
    /// By how much the chosen candidate falls short of the best one, as a share of the range of values.
    ChoiceRegret {
        /// On average.
        expected: f64,
        /// At most so much with 95 % certainty.
        bound: f64,
    },
    /// The likeliest best classifier of a pool.
    BestOfPool {
        /// Its name.
        name: String,
        /// How likely it is the best.
        probability: f64,
    },
    /// Every pair of a pool that could tell more has been asked, and the best is less certain than wanted.
    PairsUsedUp {
        /// How many pairs were asked.
        pairs: usize,
        /// How certain the best was to be.
        level: f64,
    },
    /// A linear metric does not explain the answers.
    NotLinear {
        /// How likely answers of a linear metric surprise as much.
        p_value: f64,
        /// Evidence for a quadratic metric.
        bits: f64,
    },
    /// These answers contradict the others.
    Contradicted {
        /// Counted from 1.
        answers: Vec<usize>,
    },
    /// The ball of the space reaches beyond what classifiers can do.
    BeyondReach {
        /// The sentence.
        what: String,
    },
}

impl Finding {
    /// Whether other metrics, which order classifiers differently, answer alike.
    pub fn is_ambiguity(&self) -> bool {
        matches!(
            self,
            Finding::FlatFace { .. }
                | Finding::FlatBoundary { .. }
                | Finding::DegeneratePencil
                | Finding::OrdinallyLinear { .. }
                | Finding::AmbiguousPolynomial { .. }
                | Finding::ParallelTradeOff
                | Finding::Inconsistent { .. }
                | Finding::RatioBeyond { .. }
                | Finding::WeightBeyond { .. }
                | Finding::GoalMissed { .. }
                | Finding::LikeChance { .. }
                | Finding::ProbesObject { .. }
                | Finding::Limit { .. }
                | Finding::Diminishing { .. }
        )
    }
}

/// Two digits, or whole numbers.
fn digits(x: f64) -> String {
    if x >= 10.0 { format!("{x:.0}") } else { format!("{x:.2}") }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Finding::FlatFace { class, low, high } => {
                write!(f, "class {class} against class 0 is not identifiable: every weight ratio ")?;
                match high {
                    Some(high) => write!(f, "from {low:.4} to {high:.4}")?,
                    None => write!(f, "of {low:.4} or more")?,
                }
                write!(f, " leads to the same classifiers")
            }
            Finding::FlatBoundary { low, high } => write!(
                f,
                "the slope is not identifiable: every angle from {low:.4} to {high:.4} leads to the same classifier"
            ),
            Finding::FractionalGauge { gauge } => {
                write!(f, "comparisons leave one parameter of the denominator open; reported: {gauge}")
            }
            Finding::DegeneratePencil => {
                write!(
                    f,
                    "best and worst tangent are parallel: the fraction cannot be told from a linear metric"
                )
            }
            Finding::OrdinallyLinear { conditioning } => write!(
                f,
                "the matrix is not identifiable: the answers fit the linear part alone (conditioning {conditioning:.1e})"
            ),
            Finding::AmbiguousPolynomial { conditioning } => {
                write!(f, "more than one polynomial fits the answers (conditioning {conditioning:.1e})")
            }
            Finding::ParallelTradeOff => {
                write!(
                    f,
                    "performance and fairness weights point the same way: their trade-off is not identifiable"
                )
            }
            Finding::Inconsistent { what } => {
                write!(f, "the answers contradict this family of metrics: {what}")
            }
            Finding::Local => {
                write!(
                    f,
                    "the weights are those of the best classifier: a linear approximation of the metric there"
                )
            }
            Finding::CurvatureBias { about } => {
                write!(f, "the trade-off carries a bias of about {about:.1e}, because the metric is curved")
            }
            Finding::Stopped { rule, questions, radius } => {
                write!(f, "stopped by {rule} after {questions} questions, at a 95 % radius of {radius:.4}")
            }
            Finding::RatioInterval { low, high, level } => {
                write!(f, "the cost ratio lies between {low:.2} and {high:.2} with probability {level}")
            }
            Finding::RatioBeyond { at_least, at_most, level } => {
                let end = match (at_least, at_most) {
                    (Some(low), _) => format!("at least {}", digits(*low)),
                    (None, Some(high)) => format!("at most {}", digits(*high)),
                    (None, None) => {
                        return write!(
                            f,
                            "the cost ratio is not identifiable: the answers set neither end of its interval"
                        );
                    }
                };
                write!(
                    f,
                    "the cost ratio is {end} with probability {level}; how much further it goes cannot be told from these \
                     data"
                )
            }
            Finding::WeightBeyond { .. } => {
                write!(
                    f,
                    "the gravest mistake outweighs the others by more than these data can tell: the answers set no upper end to \
                     how many of them it is worth"
                )
            }
            Finding::GoalMissed { rule } => {
                write!(
                    f,
                    "the questions ended by {rule} before the goal was reached: what is left to ask tells too little"
                )
            }
            Finding::LikeChance { factor, than } => {
                let than = match than {
                    Guess::Coin => "tossing a coin",
                    Guess::Side => "mostly choosing the same side",
                    Guess::Turns => "mostly choosing the sides in turns",
                    Guess::Undecided => "mostly saying \"can't tell\"",
                };
                match *factor < 1.0 {
                    true => write!(
                        f,
                        "these answers look like chance: {than} explains them better than any metric of this family"
                    ),
                    false => write!(
                        f,
                        "these answers look like chance: they are only {factor:.1} times likelier from somebody with a \
                         metric of this family than from {than}"
                    ),
                }
            }
            Finding::ProbesObject { wrong, probes } => write!(
                f,
                "{wrong} of {probes} probes were answered otherwise than the other answers say: a metric of this family does \
                 not explain them, or they were guessed"
            ),
            Finding::Limit { attribute, at, above, factor } => write!(
                f,
                "weights do not explain these answers: they are {} times likelier from somebody who takes nothing with {attribute} \
                 {} about {at}, whatever else it has; leave those candidates out and choose again",
                digits(*factor),
                if *above { "above" } else { "below" }
            ),
            Finding::Diminishing { attribute, factor } => write!(
                f,
                "weights do not explain these answers: they are {} times likelier from somebody to whom the first steps of \
                 {attribute} from its worse end are worth more than the last; another scale for it would",
                digits(*factor)
            ),
            Finding::Regret { expected, bound } => write!(
                f,
                "the rule that follows is expected to cost {:.0} % more than the best one (with 95 % certainty at most {:.0} %)",
                100.0 * expected,
                100.0 * bound
            ),
            Finding::ChoiceRegret { expected, bound } => write!(
                f,
                "it is expected to fall short of the best by {:.1} % of the range from the worst to the best (with 95 % \
                 certainty by at most {:.1} %)",
                100.0 * expected,
                100.0 * bound
            ),
            Finding::BestOfPool { name, probability } => {
                write!(f, "the best of the pool is \"{name}\" with probability {probability:.2}")
            }
            Finding::PairsUsedUp { pairs, level } => write!(
                f,
                "there are no more pairs to ask after {pairs}: the best is less certain than {level}, and asking the same \
                 pair again would tell nothing new"
            ),
            Finding::NotLinear { p_value, bits } => {
                // Whoever contradicts themselves is explained by no family.
                let instead = match *bits >= DECISIVE {
                    true => "a quadratic metric does better, and the weights hold near the middle only",
                    false => "they disagree with each other more than is believed of answers",
                };
                write!(
                    f,
                    "linear does not explain these answers (p = {p_value:.1e}; evidence for a quadratic metric: {bits:.1} \
                     bits): {instead}"
                )
            }
            Finding::Contradicted { answers } => {
                let numbers: Vec<String> = answers.iter().map(ToString::to_string).collect();
                match &numbers[..] {
                    [one] => write!(f, "answer {one} contradicts the other answers"),
                    [some @ .., last] => {
                        write!(f, "answers {} and {last} contradict the other answers", some.join(", "))
                    }
                    [] => write!(f, "no answer contradicts the others"),
                }
            }
            Finding::BeyondReach { what } => write!(f, "{what}"),
        }
    }
}
