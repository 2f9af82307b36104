//! The sentences there are.

use super::{Language, Plural};

/// A sentence in both forms.
#[derive(Debug, Clone, Copy)]
pub struct Forms {
    /// With [`Plural::One`].
    pub one: &'static str,
    /// With [`Plural::Other`].
    pub other: &'static str,
}

impl Forms {
    /// The form for a count.
    pub fn at(&self, language: Language, count: u64) -> &'static str {
        self.of(language.plural(count))
    }

    /// The form itself.
    pub fn of(&self, plural: Plural) -> &'static str {
        match plural {
            Plural::One => self.one,
            Plural::Other => self.other,
        }
    }
}

macro_rules! words {
    (
        text { $($(#[doc = $text_doc:literal])* $text:ident,)* }
        counted { $($(#[doc = $counted_doc:literal])* $counted:ident,)* }
    ) => {
        /// Every sentence of the pages in one language.
        #[derive(Debug)]
        pub struct Words {
            $($(#[doc = $text_doc])* pub $text: &'static str,)*
            $($(#[doc = $counted_doc])* pub $counted: Forms,)*
        }

        impl Words {
            /// All sentences by name, for tests and tools.
            pub fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![
                    $((stringify!($text), self.$text),)*
                    $((concat!(stringify!($counted), ".one"), self.$counted.one),
                      (concat!(stringify!($counted), ".other"), self.$counted.other),)*
                ]
            }

            /// The same sentences, each changed.
            pub(super) fn map(&self, change: impl Fn(&str) -> &'static str) -> Self {
                Self {
                    $($text: change(self.$text),)*
                    $($counted: Forms { one: change(self.$counted.one), other: change(self.$counted.other) },)*
                }
            }
        }
    };
}

words! {
    text {
        /// Skip to the content
        skip,
        /// Help
        help,
        /// Language
        language,
        /// Pause
        pause,
        /// Withdraw and delete
        withdraw,
        /// Continue on another device
        another_device,
        /// Continue
        proceed,
        /// Back to the study
        back,
        /// Saved
        saved,
        /// Saving …
        saving,
        /// Offline: your answer is kept
        waiting,
        /// Please look at this again
        problems,
        /// Choose your language
        language_title,
        /// You can change it at any time. The questions stay the same.
        language_hint,
        /// Before you begin
        consent_title,
        /// I have read this and take part of my own free will.
        consent_check,
        /// Agree and begin
        consent_yes,
        /// I do not want to take part
        consent_no,
        /// Tick the box if you agree, or choose not to take part.
        consent_missing,
        /// You are not taking part
        declined_title,
        /// That is fine. None of your answers are stored, and you can close this page. …
        declined_text,
        /// A few questions about you
        questionnaire_before,
        /// A few last questions
        questionnaire_after,
        /// I prefer not to say
        prefer_not,
        /// Choose all that apply.
        any_number,
        /// optional
        optional,
        /// Choose one of the answers.
        choose_one,
        /// Enter a number from `{low}` to `{high}`.
        number_between,
        /// Write a few words here.
        text_needed,
        /// Write at most `{most}` characters; there are `{count}`.
        text_too_long,
        /// Your first guess
        stated_before,
        /// Your guess now
        stated_after,
        /// Before you see any numbers: how do the two mistakes compare, for you? There …
        stated_before_intro,
        /// You have compared many systems. How do the two mistakes compare for you now? …
        stated_after_intro,
        /// If you are not sure, give a range
        stated_range,
        /// at least
        stated_low,
        /// at most
        stated_high,
        /// I can’t say
        cannot_say,
        /// Enter a number greater than 0, or choose “I can’t say”.
        stated_missing,
        /// The range has to go from a smaller number to a larger one, with your number …
        stated_range_wrong,
        /// What the mistakes mean
        consequences_title,
        /// Please read what each mistake means for the …
        consequences_intro,
        /// Source: `{source}`
        source,
        /// How to read the picture
        learn_title,
        /// On the left is what is true. It is the same for both systems.
        learn_truth,
        /// On the right is what the system predicts. The patterned boxes are its mistakes.
        learn_prediction,
        /// Each row is a kind of mistake. …
        learn_kinds,
        /// The bar shows the same number. The fewer, the better.
        learn_meter,
        /// For each kind of mistake you see how many of 100 people it happens to.
        learn_groups,
        /// The dots are the groups, and the line between them is the gap: …
        learn_gap,
        /// Try it: `{number}` of `{total}`
        learn_number,
        /// Check my answer
        check,
        /// That is right.
        right,
        /// Not quite. Look at the picture once more and try again.
        try_again,
        /// The answer is: `{answer}`.
        worked,
        /// Practice `{number}` of `{total}`
        practice_number,
        /// Practice, not recorded in your result
        practice_note,
        /// Choose the system you would want. One button is enough: there is nothing to …
        practice_choose,
        /// Slipped? Press “Undo last” to take the previous answer back, then answer again.
        practice_undo,
        /// Can’t tell which is better? Saying so is an answer, too. Try it here.
        practice_tell,
        /// Now it counts
        begin_title,
        /// There is no right or wrong: choose what you would want.
        begin_text,
        /// Question `{number}`
        question_number,
        /// about `{low}`–`{high}` left
        left_range,
        /// at most `{high}` left
        left_most,
        /// about `{high}` left
        left_about,
        /// this may be the last one
        left_none,
        /// out of `{count}` `{people}`
        out_of,
        /// Your answer
        answers,
        /// I can’t tell
        cannot_tell,
        /// Undo last
        undo,
        /// Show
        show,
        /// Numbers
        counts,
        /// Rates
        rates,
        /// Mistakes only
        mistakes_only,
        /// Keyboard shortcuts
        shortcuts,
        /// a or ← is A, b or → is B, space is “I can’t tell”, u undoes
        keys_answer,
        /// r shows rates
        keys_rates,
        /// m shows all numbers
        keys_numbers,
        /// ? opens help
        keys_help,
        /// `{system}`, out of `{count}` `{people}`
        table_caption,
        /// What is true
        table_truth,
        /// How many
        table_total,
        /// Predicted correctly
        table_right,
        /// Mistakes
        table_wrong,
        /// This question is already answered
        conflict_title,
        /// Your answer was: `{choice}`. To change it, go on and press “Undo last”.
        conflict_text,
        /// What you sent first is kept; what you changed afterwards was not saved.
        conflict_kept,
        /// With `{system}`: `{list}`.
        difference,
        /// and
        and,
        /// a gap in `{mistakes}` `{points}` larger
        gap_larger,
        /// a gap in `{mistakes}` `{points}` smaller
        gap_smaller,
        /// The gaps between groups are the same.
        gaps_same,
        /// Overall there are equally many mistakes.
        overall_same,
        /// 1 symbol is `{count}` `{people}`
        icon_each,
        /// You answered. Now press “Undo last” to take it back.
        practice_undo_now,
        /// Taken back. Now answer again, as you like.
        practice_undone,
        /// A and B make the same mistakes.
        difference_none,
        /// `{count}` fewer `{mistakes}`
        fewer,
        /// `{count}` more `{mistakes}`
        more,
        /// as many `{mistakes}`
        as_many,
        /// said `{said}`, really `{really}`
        mistake_kind,
        /// Kind of mistake
        kinds,
        /// With B
        change,
        /// same
        same,
        /// Gap
        gap_short,
        /// Of 100 each
        per_100,
        /// All numbers
        all_numbers,
        /// Everyone
        overall,
        /// `{mistakes}`, of 100 `{class}`
        per_hundred,
        /// Group
        group,
        /// `{system}`: `{points}` more per 100 for `{group}` than for `{other}`.
        gap_more,
        /// `{system}`: no gap between groups.
        gap_none,
        /// Gap between groups
        gap_plain,
        /// Gap: more for `{group}` than for `{other}`
        gap_toward,
        /// `{count}` more `{mistakes}` per 100
        rate_more,
        /// `{count}` fewer `{mistakes}` per 100
        rate_fewer,
        /// (`{count}` of `{whole}`)
        group_size,
        /// That was all
        finish_title,
        /// Nothing is left to answer. Press the button to hand in your answers.
        finish_text,
        /// Hand in
        finish,
        /// About the comparisons
        questionnaire_task,
        /// Thank you
        result_title,
        /// What your answers say
        result_lead,
        /// You accept about `{amount}` extra `{cheap}` to avoid one `{dear}`.
        exchange,
        /// You accept at least `{amount}` extra `{cheap}` to avoid one `{dear}`; your answers …
        exchange_at_least,
        /// 95 % interval: `{low}` to `{high}`
        interval,
        /// Your answers do not settle which mistake you consider worse.
        unsettled,
        /// Your answers are recorded. The research team will look at them together with …
        no_result,
        /// From your answers
        own_answers,
        /// Your guess at the end
        own_last,
        /// How many `{many}` are as bad as one `{one}`
        axis_ratio,
        /// How many `{many}` one of them is as bad as
        axis_weights,
        /// To you, one `{one}` is as bad as about `{amount}` `{many}`.
        weights_lead,
        /// 1, what the others are measured in
        unit,
        /// To shrink the gap … you accept up to `{amount}` more …
        gap_worth,
        /// The best system for you
        best_title,
        /// Of `{count}` `{people}` it has `{list}`.
        best_system,
        /// Your answers are recorded, but no result follows from them: `{why}`.
        refused,
        /// `{count}` answers are too few, `{needed}` are needed
        refused_few,
        /// in `{count}` of `{total}` comparisons with a system that is better in every way, the other one was chosen
        refused_checks,
        /// what was chosen goes by the side more than by what the systems do
        refused_sides,
        /// they fit together no better than tosses of a coin would
        refused_chance,
        /// they contradict each other too much
        refused_wide,
        /// Save as a picture
        keep_picture,
        /// Print this page
        keep_print,
        /// Your receipt
        receipt_title,
        /// Keep this code. With it you can have it checked that your answers are in the …
        receipt_text,
        /// Finish and return
        complete,
        /// You can close this page now.
        close_page,
        /// Withdraw and delete your answers?
        withdraw_title,
        /// Everything you have answered is deleted for good. You need not give a reason. …
        withdraw_text,
        /// Yes, delete my answers
        withdraw_yes,
        /// No, go on with the study
        withdraw_no,
        /// Your answers are deleted
        withdrawn_title,
        /// Your answers are being deleted
        withdrawing_title,
        /// You have withdrawn from the study. Thank you for your time. You can close …
        withdrawn_text,
        /// Continued elsewhere
        elsewhere_title,
        /// The study is open on another device or in another window, and goes on there. …
        elsewhere_text,
        /// Continue here instead
        take_back,
        /// Continue on another phone or computer
        device_title,
        /// Open this link there, or point its camera at the code. You will be exactly …
        device_text,
        /// The link is yours alone: whoever has it can answer for you.
        device_secret,
        /// Code with the link to your place in the study
        device_code,
        /// Pause
        pause_title,
        /// Everything up to here is saved. Come back whenever you like, with the link …
        pause_text,
        /// Your answers are kept.
        answers_kept,
        /// Something went wrong
        error_title,
        /// The server could not do this. Please try again in a moment.
        error_text,
        /// There is nothing here
        missing_title,
        /// The address does not belong to the study.
        missing_text,
        /// Please open your link
        link_title,
        /// To take part, open the link you were sent. If you just did, it is not, or no …
        link_text,
        /// This page was out of date
        stale_title,
        /// Please go on from where you are.
        stale_text,
        /// That was too much text
        too_large_title,
        /// What you sent is longer than this page can take, and was not saved. …
        too_large_text,
        /// `{name}`: `{second}` instead of `{first}`
        instead,
        /// less is better
        less_is_better,
        /// more is better
        more_is_better,
        /// What they have
        attributes,
        /// What the numbers mean
        attributes_title,
        /// Please read what each number means. …
        attributes_intro,
        /// `{name}` suits you best, with a probability of `{probability}`.
        chosen,
        /// Your answers leave open which one suits you best; …
        chosen_open,
        /// What weighs for you, over the range you saw
        chosen_weighs,
        /// Your completion code
        panel_code,
        /// Return to where you came from
        panel_return,
        /// All places are taken
        full_title,
        /// Enough people take part already. Nothing about you was stored. Thank you …
        full_text,
        /// This study has not begun
        early_title,
        /// Please come back later with the same address. Nothing about you was stored.
        early_text,
        /// This study has ended
        over_title,
        /// Nobody new can take part any more. Nothing about you was stored. Thank you …
        over_text,
        /// Please start from your panel
        nameless_title,
        /// The address lacks what tells us whose place this is. Open the study again …
        nameless_text,
        /// You have already taken part
        again_title,
        /// Your answers are recorded. There is nothing more to do here.
        again_text,
        /// Look at the last page again
        again_look,
        /// This study is for other people
        screened_title,
        /// Thank you for your answers. The study looks for people in another …
        screened_text,
        /// Preview: nothing is kept
        preview,
    }
    counted {
        /// `{count}` more mistakes per 1,000 overall
        overall_more,
        /// `{count}` fewer mistakes per 1,000 overall
        overall_fewer,
        /// `{count}` points, of a gap.
        points,
        /// What is folded away.
        others_same,
        /// How often a repeated question got the same answer.
        consistency,
    }
}
