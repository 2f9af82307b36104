//! French.

use super::{Forms, Words};

pub const WORDS: Words = Words {
    // Around every page
    skip: "Aller au contenu",
    help: "Aide",
    language: "Langue",
    pause: "Pause",
    withdraw: "Me retirer et tout effacer",
    another_device: "Continuer sur un autre appareil",
    proceed: "Continuer",
    back: "Retour à l’étude",
    saved: "Enregistré",
    saving: "Enregistrement …",
    waiting: "En attente de connexion, 1 réponse conservée sur cet appareil",
    problems: "Veuillez revoir ce point",
    // Language
    language_title: "Choisissez votre langue",
    language_hint: "Vous pouvez la changer à tout moment. Les questions restent les mêmes.",
    // Consent
    consent_title: "Avant de commencer",
    consent_check: "J’ai lu ce texte et je participe de mon plein gré.",
    consent_yes: "Accepter et commencer",
    consent_no: "Je ne souhaite pas participer",
    consent_missing: "Cochez la case si vous acceptez, ou choisissez de ne pas participer.",
    declined_title: "Vous ne participez pas",
    declined_text: "C’est votre droit. Aucune réponse de votre part n’est enregistrée et vous pouvez fermer cette \
        page. Si vous changez d’avis, ouvrez de nouveau votre lien.",
    // Questionnaire
    questionnaire_before: "Quelques questions sur vous",
    questionnaire_task: "À propos des comparaisons",
    questionnaire_after: "Quelques dernières questions",
    prefer_not: "Je préfère ne pas répondre",
    any_number: "Cochez tout ce qui convient.",
    optional: "facultatif",
    choose_one: "Choisissez une des réponses.",
    number_between: "Entrez un nombre entre {low} et {high}.",
    text_needed: "Écrivez quelques mots ici.",
    // Stated cost
    stated_before: "Votre première estimation",
    stated_after: "Votre estimation maintenant",
    stated_before_intro: "Avant de voir des chiffres : comment comparez-vous les deux erreurs ? Il n’y a pas de bonne \
        réponse.",
    stated_after_intro: "Vous avez comparé de nombreux systèmes. Comment comparez-vous les deux erreurs maintenant ? Cela \
        peut différer de votre première réponse.",
    stated_range: "Si vous hésitez, donnez une fourchette",
    stated_low: "au moins",
    stated_high: "au plus",
    cannot_say: "Je ne peux pas le dire",
    stated_missing: "Entrez un nombre supérieur à 0, ou choisissez « Je ne peux pas le dire ».",
    stated_range_wrong: "La fourchette doit aller du plus petit au plus grand nombre et contenir le vôtre.",
    // Consequences
    consequences_title: "Ce que les erreurs impliquent",
    consequences_intro: "Aucun système n’a toujours raison. Veuillez lire ce que chaque erreur signifie pour la personne. \
        Vous pourrez y revenir à chaque question avec « Aide ».",
    source: "Source : {source}",
    // Learning the picture
    learn_title: "Comment lire le schéma",
    learn_truth: "La case teintée est ce qui est vrai. Elle est identique pour les deux systèmes.",
    learn_prediction: "Les cases encadrées sont ce que le système prédit. Celles à motif sont ses erreurs.",
    learn_kinds: "Chaque ligne est un type d’erreur. Le nombre indique combien sur {count} {people} sont concernés.",
    learn_meter: "La barre montre le même nombre. Moins il y en a, mieux c’est.",
    learn_groups: "Chaque ligne est un groupe de personnes. Les nombres indiquent pour combien sur 100 le système se trompe.",
    learn_gap: "Si les nombres de deux groupes diffèrent, le système fait plus d’erreurs pour l’un des deux. Cette différence s’appelle un écart.",
    learn_number: "Exercice {number} sur {total}",
    check: "Vérifier ma réponse",
    right: "C’est exact.",
    try_again: "Pas tout à fait. Regardez encore le schéma et réessayez.",
    worked: "La réponse est : {answer}.",
    // Practice
    practice_number: "Entraînement {number} sur {total}",
    practice_note: "Entraînement, sans effet sur votre résultat",
    practice_choose: "Choisissez le système que vous voudriez. Un seul bouton suffit : rien à confirmer.",
    practice_undo: "Une erreur de frappe ? « Annuler la dernière » retire la réponse précédente ; répondez ensuite à \
        nouveau.",
    practice_tell: "Vous ne savez pas lequel est le meilleur ? Le dire est aussi une réponse. Essayez ici.",
    begin_title: "Maintenant, cela compte",
    begin_text: "À partir d’ici, vos réponses sont enregistrées. Il n’y a ni juste ni faux : choisissez ce que \
        vous voudriez. Prenez votre temps.",
    begin: "Commencer",
    // Comparisons
    question_number: "Question n° {number}",
    left_range: "encore {low}–{high}",
    left_about: "encore {high} environ",
    left_none: "peut-être la dernière",
    out_of: "sur {count} {people}",
    answers: "Votre réponse",
    cannot_tell: "Je ne sais pas",
    undo: "Annuler la dernière",
    show: "Afficher",
    counts: "Nombres",
    rates: "Taux",
    mistakes_only: "Erreurs seules",
    shortcuts: "Raccourcis clavier",
    shortcut_keys: "a ou ← pour A, b ou → pour B, espace pour « Je ne sais pas », u annule, r affiche les taux, ? \
        ouvre l’aide.",
    table_caption: "{system}, sur {count} {people}",
    table_truth: "Ce qui est vrai",
    table_total: "Combien",
    table_right: "Prédits correctement",
    table_wrong: "Erreurs",
    conflict_title: "Cette question a déjà une réponse",
    conflict_text: "Votre réponse était : {choice}. Pour la modifier, continuez puis appuyez sur « Annuler la \
        dernière ».",
    // Differences
    difference: "Avec {system} : {list}.",
    and: "et",
    gap_larger: "un écart de {mistakes} plus grand de {points}",
    gap_smaller: "un écart de {mistakes} plus petit de {points}",
    gaps_same: "Les écarts entre les groupes sont les mêmes.",
    overall_same: "Au total, il y a autant d’erreurs.",
    icon_each: "1 symbole représente {count} {people}",
    practice_undo_now: "Vous avez répondu. Appuyez maintenant sur « Annuler la dernière ».",
    practice_undone: "Réponse retirée. Répondez de nouveau, comme vous voulez.",
    difference_none: "A et B font les mêmes erreurs.",
    fewer: "{count} {mistakes} de moins",
    more: "{count} {mistakes} de plus",
    as_many: "autant de {mistakes}",
    // Several classes
    mistake_kind: "dit : {said}, en réalité : {really}",
    kinds: "Type d’erreur",
    all_numbers: "Tous les nombres",
    // Groups
    overall: "Tout le monde",
    per_hundred: "{mistakes}, sur 100 qui {class}",
    group: "Groupe",
    gap_more: "{system} : {points} de plus pour 100 pour {group} que pour {other}.",
    gap_none: "{system} : aucun écart entre les groupes.",
    group_size: "({count} sur {whole})",
    // Result
    finish_title: "C’est terminé",
    finish_text: "Il ne reste aucune question. Appuyez sur le bouton pour remettre vos réponses.",
    finish: "Remettre",
    result_title: "Merci",
    result_lead: "Ce que disent vos réponses",
    exchange: "Pour vous, une seule erreur du type « {dear} » pèse environ autant que {amount} {cheap}.",
    exchange_at_least: "Pour vous, une seule erreur du type « {dear} » pèse au moins autant que {amount} {cheap} ; vos \
        réponses ne fixent pas de limite supérieure.",
    interval: "Intervalle à 95\u{a0}% : de {low} à {high}",
    unsettled: "Vos réponses ne permettent pas de dire quelle erreur vous jugez la plus grave.",
    no_result: "Vos réponses sont enregistrées. L’équipe de recherche les analysera avec celles des autres.",
    receipt_title: "Votre reçu",
    receipt_text: "Conservez ce code. Il permet de vérifier que vos réponses figurent dans les données, inchangées.",
    complete: "Terminer et revenir",
    close_page: "Vous pouvez maintenant fermer cette page.",
    // Leaving, returning
    withdraw_title: "Vous retirer et effacer vos réponses ?",
    withdraw_text: "Toutes vos réponses seront définitivement effacées. Vous n’avez pas à vous justifier. Cette \
        action est irréversible.",
    withdraw_yes: "Oui, effacer mes réponses",
    withdraw_no: "Non, poursuivre l’étude",
    withdrawn_title: "Vos réponses sont effacées",
    withdrawn_text: "Vous vous êtes retiré de l’étude. Merci du temps accordé. Vous pouvez fermer cette page.",
    elsewhere_title: "Poursuivi ailleurs",
    elsewhere_text: "L’étude est ouverte sur un autre appareil ou dans une autre fenêtre, et s’y poursuit. Aucune de \
        vos réponses n’est perdue.",
    take_back: "Continuer plutôt ici",
    device_title: "Continuer sur un autre téléphone ou ordinateur",
    device_text: "Ouvrez-y ce lien, ou visez le code avec l’appareil photo. Vous reprendrez exactement là où vous \
        êtes.",
    device_secret: "Ce lien est personnel : quiconque le possède peut répondre à votre place.",
    device_code: "Code contenant le lien vers votre place dans l’étude",
    pause_title: "Pause",
    pause_text: "Tout est enregistré jusqu’ici. Revenez quand vous voulez, avec votre lien ou avec cette page.",
    // When something is wrong
    answers_kept: "Vos réponses sont conservées.",
    error_title: "Un problème est survenu",
    error_text: "Le serveur n’a pas pu le faire. Veuillez réessayer dans un instant.",
    missing_title: "Il n’y a rien ici",
    missing_text: "Cette adresse ne fait pas partie de l’étude.",
    link_title: "Veuillez ouvrir votre lien",
    link_text: "Pour participer, ouvrez le lien reçu. Si vous venez de le faire, il n’est pas ou plus valable : \
        adressez-vous à la personne qui l’a envoyé.",
    stale_title: "Cette page n’était plus à jour",
    stale_text: "Veuillez poursuivre là où vous en êtes.",
    // With a count
    overall_more: Forms {
        one: "{count} erreur de plus pour 1 000 au total",
        other: "{count} erreurs de plus pour 1 000 au total",
    },
    overall_fewer: Forms {
        one: "{count} erreur de moins pour 1 000 au total",
        other: "{count} erreurs de moins pour 1 000 au total",
    },
    points: Forms { one: "{count} point", other: "{count} points" },
    others_same: Forms {
        one: "Le seul autre type d’erreur ({count}) est identique pour A et B.",
        other: "Les {count} autres types d’erreur sont identiques pour A et B.",
    },
    consistency: Forms {
        one: "Une question vous a été posée deux fois ; vous avez répondu de même {same} fois sur {total}.",
        other: "Aux questions répétées, vous avez répondu de même {same} fois sur {total}.",
    },
};
