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
        #[doc = "Skip to the content"]
        skip,
        #[doc = "Help"]
        help,
        #[doc = "Language"]
        language,
        #[doc = "Pause"]
        pause,
        #[doc = "Withdraw and delete"]
        withdraw,
        #[doc = "Continue on another device"]
        another_device,
        #[doc = "Continue"]
        proceed,
        #[doc = "Back to the study"]
        back,
        #[doc = "Saved"]
        saved,
        #[doc = "Saving …"]
        saving,
        #[doc = "Offline: your answer is kept"]
        waiting,
        #[doc = "Please look at this again"]
        problems,
        #[doc = "Choose your language"]
        language_title,
        #[doc = "You can change it at any time. The questions stay the same."]
        language_hint,
        #[doc = "Before you begin"]
        consent_title,
        #[doc = "I have read this and take part of my own free will."]
        consent_check,
        #[doc = "Agree and begin"]
        consent_yes,
        #[doc = "I do not want to take part"]
        consent_no,
        #[doc = "Tick the box if you agree, or choose not to take part."]
        consent_missing,
        #[doc = "You are not taking part"]
        declined_title,
        #[doc = "That is fine. None of your answers are stored, and you can close this page. …"]
        declined_text,
        #[doc = "A few questions about you"]
        questionnaire_before,
        #[doc = "A few last questions"]
        questionnaire_after,
        #[doc = "I prefer not to say"]
        prefer_not,
        #[doc = "Choose all that apply."]
        any_number,
        #[doc = "optional"]
        optional,
        #[doc = "Choose one of the answers."]
        choose_one,
        #[doc = "Enter a number from `{low}` to `{high}`."]
        number_between,
        #[doc = "Write a few words here."]
        text_needed,
        #[doc = "Your first guess"]
        stated_before,
        #[doc = "Your guess now"]
        stated_after,
        #[doc = "Before you see any numbers: how do the two mistakes compare, for you? There …"]
        stated_before_intro,
        #[doc = "You have compared many systems. How do the two mistakes compare for you now? …"]
        stated_after_intro,
        #[doc = "If you are not sure, give a range"]
        stated_range,
        #[doc = "at least"]
        stated_low,
        #[doc = "at most"]
        stated_high,
        #[doc = "I can’t say"]
        cannot_say,
        #[doc = "Enter a number greater than 0, or choose “I can’t say”."]
        stated_missing,
        #[doc = "The range has to go from a smaller number to a larger one, with your number …"]
        stated_range_wrong,
        #[doc = "What the mistakes mean"]
        consequences_title,
        #[doc = "Please read what each mistake means for the …"]
        consequences_intro,
        #[doc = "Source: `{source}`"]
        source,
        #[doc = "How to read the picture"]
        learn_title,
        #[doc = "On the left is what is true. It is the same for both systems."]
        learn_truth,
        #[doc = "On the right is what the system predicts. The patterned boxes are its mistakes."]
        learn_prediction,
        #[doc = "Each row is a kind of mistake. …"]
        learn_kinds,
        #[doc = "The bar shows the same number. The fewer, the better."]
        learn_meter,
        #[doc = "For each kind of mistake you see how many of 100 people it happens to."]
        learn_groups,
        #[doc = "The dots are the groups, and the line between them is the gap: …"]
        learn_gap,
        #[doc = "Try it: `{number}` of `{total}`"]
        learn_number,
        #[doc = "Check my answer"]
        check,
        #[doc = "That is right."]
        right,
        #[doc = "Not quite. Look at the picture once more and try again."]
        try_again,
        #[doc = "The answer is: `{answer}`."]
        worked,
        #[doc = "Practice `{number}` of `{total}`"]
        practice_number,
        #[doc = "Practice, not recorded in your result"]
        practice_note,
        #[doc = "Choose the system you would want. One button is enough: there is nothing to …"]
        practice_choose,
        #[doc = "Slipped? Press “Undo last” to take the previous answer back, then answer again."]
        practice_undo,
        #[doc = "Can’t tell which is better? Saying so is an answer, too. Try it here."]
        practice_tell,
        #[doc = "Now it counts"]
        begin_title,
        #[doc = "There is no right or wrong: choose what you would want."]
        begin_text,
        #[doc = "Question `{number}`"]
        question_number,
        #[doc = "about `{low}`–`{high}` left"]
        left_range,
        #[doc = "at most `{high}` left"]
        left_most,
        #[doc = "about `{high}` left"]
        left_about,
        #[doc = "this may be the last one"]
        left_none,
        #[doc = "out of `{count}` `{people}`"]
        out_of,
        #[doc = "Your answer"]
        answers,
        #[doc = "I can’t tell"]
        cannot_tell,
        #[doc = "Undo last"]
        undo,
        #[doc = "Show"]
        show,
        #[doc = "Numbers"]
        counts,
        #[doc = "Rates"]
        rates,
        #[doc = "Mistakes only"]
        mistakes_only,
        #[doc = "Keyboard shortcuts"]
        shortcuts,
        #[doc = "a or ← is A, b or → is B, space is “I can’t tell”, u undoes"]
        keys_answer,
        #[doc = "r shows rates"]
        keys_rates,
        #[doc = "m shows all numbers"]
        keys_numbers,
        #[doc = "? opens help"]
        keys_help,
        #[doc = "`{system}`, out of `{count}` `{people}`"]
        table_caption,
        #[doc = "What is true"]
        table_truth,
        #[doc = "How many"]
        table_total,
        #[doc = "Predicted correctly"]
        table_right,
        #[doc = "Mistakes"]
        table_wrong,
        #[doc = "This question is already answered"]
        conflict_title,
        #[doc = "Your answer was: `{choice}`. To change it, go on and press “Undo last”."]
        conflict_text,
        #[doc = "With `{system}`: `{list}`."]
        difference,
        #[doc = "and"]
        and,
        #[doc = "a gap in `{mistakes}` `{points}` larger"]
        gap_larger,
        #[doc = "a gap in `{mistakes}` `{points}` smaller"]
        gap_smaller,
        #[doc = "The gaps between groups are the same."]
        gaps_same,
        #[doc = "Overall there are equally many mistakes."]
        overall_same,
        #[doc = "1 symbol is `{count}` `{people}`"]
        icon_each,
        #[doc = "You answered. Now press “Undo last” to take it back."]
        practice_undo_now,
        #[doc = "Taken back. Now answer again, as you like."]
        practice_undone,
        #[doc = "A and B make the same mistakes."]
        difference_none,
        #[doc = "`{count}` fewer `{mistakes}`"]
        fewer,
        #[doc = "`{count}` more `{mistakes}`"]
        more,
        #[doc = "as many `{mistakes}`"]
        as_many,
        #[doc = "said `{said}`, really `{really}`"]
        mistake_kind,
        #[doc = "Kind of mistake"]
        kinds,
        #[doc = "With B"]
        change,
        #[doc = "same"]
        same,
        #[doc = "Gap"]
        gap_short,
        #[doc = "Of 100 each"]
        per_100,
        #[doc = "All numbers"]
        all_numbers,
        #[doc = "Everyone"]
        overall,
        #[doc = "`{mistakes}`, of 100 `{class}`"]
        per_hundred,
        #[doc = "Group"]
        group,
        #[doc = "`{system}`: `{points}` more per 100 for `{group}` than for `{other}`."]
        gap_more,
        #[doc = "`{system}`: no gap between groups."]
        gap_none,
        #[doc = "Gap between groups"]
        gap_plain,
        #[doc = "Gap: more for `{group}` than for `{other}`"]
        gap_toward,
        #[doc = "`{count}` more `{mistakes}` per 100"]
        rate_more,
        #[doc = "`{count}` fewer `{mistakes}` per 100"]
        rate_fewer,
        #[doc = "(`{count}` of `{whole}`)"]
        group_size,
        #[doc = "That was all"]
        finish_title,
        #[doc = "Nothing is left to answer. Press the button to hand in your answers."]
        finish_text,
        #[doc = "Hand in"]
        finish,
        #[doc = "About the comparisons"]
        questionnaire_task,
        #[doc = "Thank you"]
        result_title,
        #[doc = "What your answers say"]
        result_lead,
        #[doc = "You accept about `{amount}` extra `{cheap}` to avoid one `{dear}`."]
        exchange,
        #[doc = "You accept at least `{amount}` extra `{cheap}` to avoid one `{dear}`; your answers …"]
        exchange_at_least,
        #[doc = "95 % interval: `{low}` to `{high}`"]
        interval,
        #[doc = "Your answers do not settle which mistake you consider worse."]
        unsettled,
        #[doc = "Your answers are recorded. The research team will look at them together with …"]
        no_result,
        #[doc = "From your answers"]
        own_answers,
        #[doc = "Your guess at the end"]
        own_last,
        #[doc = "How many `{many}` are as bad as one `{one}`"]
        axis_ratio,
        #[doc = "How many `{many}` one of them is as bad as"]
        axis_weights,
        #[doc = "To you, one `{one}` is as bad as about `{amount}` `{many}`."]
        weights_lead,
        #[doc = "1, what the others are measured in"]
        unit,
        #[doc = "To shrink the gap … you accept up to `{amount}` more …"]
        gap_worth,
        #[doc = "The best system for you"]
        best_title,
        #[doc = "Of `{count}` `{people}` it has `{list}`."]
        best_system,
        #[doc = "Your answers are recorded, but no result follows from them: `{why}`."]
        refused,
        #[doc = "`{count}` answers are too few, `{needed}` are needed"]
        refused_few,
        #[doc = "in `{count}` of `{total}` comparisons with a system that is better in every way, the other one was chosen"]
        refused_checks,
        #[doc = "what was chosen goes by the side more than by what the systems do"]
        refused_sides,
        #[doc = "they fit together no better than tosses of a coin would"]
        refused_chance,
        #[doc = "they contradict each other too much"]
        refused_wide,
        #[doc = "Save as a picture"]
        keep_picture,
        #[doc = "Print this page"]
        keep_print,
        #[doc = "Your receipt"]
        receipt_title,
        #[doc = "Keep this code. With it you can have it checked that your answers are in the …"]
        receipt_text,
        #[doc = "Finish and return"]
        complete,
        #[doc = "You can close this page now."]
        close_page,
        #[doc = "Withdraw and delete your answers?"]
        withdraw_title,
        #[doc = "Everything you have answered is deleted for good. You need not give a reason. …"]
        withdraw_text,
        #[doc = "Yes, delete my answers"]
        withdraw_yes,
        #[doc = "No, go on with the study"]
        withdraw_no,
        #[doc = "Your answers are deleted"]
        withdrawn_title,
        #[doc = "Your answers are being deleted"]
        withdrawing_title,
        #[doc = "You have withdrawn from the study. Thank you for your time. You can close …"]
        withdrawn_text,
        #[doc = "Continued elsewhere"]
        elsewhere_title,
        #[doc = "The study is open on another device or in another window, and goes on there. …"]
        elsewhere_text,
        #[doc = "Continue here instead"]
        take_back,
        #[doc = "Continue on another phone or computer"]
        device_title,
        #[doc = "Open this link there, or point its camera at the code. You will be exactly …"]
        device_text,
        #[doc = "The link is yours alone: whoever has it can answer for you."]
        device_secret,
        #[doc = "Code with the link to your place in the study"]
        device_code,
        #[doc = "Pause"]
        pause_title,
        #[doc = "Everything up to here is saved. Come back whenever you like, with the link …"]
        pause_text,
        #[doc = "Your answers are kept."]
        answers_kept,
        #[doc = "Something went wrong"]
        error_title,
        #[doc = "The server could not do this. Please try again in a moment."]
        error_text,
        #[doc = "There is nothing here"]
        missing_title,
        #[doc = "The address does not belong to the study."]
        missing_text,
        #[doc = "Please open your link"]
        link_title,
        #[doc = "To take part, open the link you were sent. If you just did, it is not, or no …"]
        link_text,
        #[doc = "This page was out of date"]
        stale_title,
        #[doc = "Please go on from where you are."]
        stale_text,
        #[doc = "`{name}`: `{second}` instead of `{first}`"]
        instead,
        #[doc = "less is better"]
        less_is_better,
        #[doc = "more is better"]
        more_is_better,
        #[doc = "What they have"]
        attributes,
        #[doc = "What the numbers mean"]
        attributes_title,
        #[doc = "Please read what each number means. …"]
        attributes_intro,
        #[doc = "`{name}` suits you best, with a probability of `{probability}`."]
        chosen,
        #[doc = "Your answers leave open which one suits you best; …"]
        chosen_open,
        #[doc = "What weighs for you, over the range you saw"]
        chosen_weighs,
        #[doc = "Your completion code"]
        panel_code,
        #[doc = "Return to where you came from"]
        panel_return,
        #[doc = "All places are taken"]
        full_title,
        #[doc = "Enough people take part already. Nothing about you was stored. Thank you …"]
        full_text,
        #[doc = "This study has not begun"]
        early_title,
        #[doc = "Please come back later with the same address. Nothing about you was stored."]
        early_text,
        #[doc = "This study has ended"]
        over_title,
        #[doc = "Nobody new can take part any more. Nothing about you was stored. Thank you …"]
        over_text,
        #[doc = "Please start from your panel"]
        nameless_title,
        #[doc = "The address lacks what tells us whose place this is. Open the study again …"]
        nameless_text,
        #[doc = "You have already taken part"]
        again_title,
        #[doc = "Your answers are recorded. There is nothing more to do here."]
        again_text,
        #[doc = "Look at the last page again"]
        again_look,
        #[doc = "This study is for other people"]
        screened_title,
        #[doc = "Thank you for your answers. The study looks for people in another …"]
        screened_text,
        #[doc = "Preview: nothing is kept"]
        preview,
    }
    counted {
        #[doc = "`{count}` more mistakes per 1,000 overall"]
        overall_more,
        #[doc = "`{count}` fewer mistakes per 1,000 overall"]
        overall_fewer,
        #[doc = "`{count}` points, of a gap."]
        points,
        #[doc = "What is folded away."]
        others_same,
        #[doc = "How often a repeated question got the same answer."]
        consistency,
    }
}
