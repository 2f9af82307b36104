//! German.

use super::{Forms, Words};

pub const WORDS: Words = Words {
    // Around every page
    skip: "Zum Inhalt springen",
    help: "Hilfe",
    language: "Sprache",
    pause: "Pause",
    withdraw: "Zurückziehen und löschen",
    another_device: "Auf einem anderen Gerät fortfahren",
    proceed: "Weiter",
    back: "Zurück zur Studie",
    saved: "Gespeichert",
    saving: "Wird gespeichert …",
    waiting: "Warten auf Verbindung, 1 Antwort auf diesem Gerät aufbewahrt",
    problems: "Bitte sehen Sie hier noch einmal hin",
    // Language
    language_title: "Wählen Sie Ihre Sprache",
    language_hint: "Sie können sie jederzeit ändern. Die Fragen bleiben dieselben.",
    // Consent
    consent_title: "Bevor Sie beginnen",
    consent_check: "Ich habe dies gelesen und nehme freiwillig teil.",
    consent_yes: "Zustimmen und beginnen",
    consent_no: "Ich möchte nicht teilnehmen",
    consent_missing: "Setzen Sie das Häkchen, wenn Sie zustimmen, oder nehmen Sie nicht teil.",
    declined_title: "Sie nehmen nicht teil",
    declined_text: "Das ist in Ordnung. Es sind keine Antworten von Ihnen gespeichert, und Sie können diese Seite \
        schließen. Wenn Sie es sich anders überlegen, öffnen Sie Ihren Link erneut.",
    // Questionnaire
    questionnaire_before: "Einige Fragen zu Ihnen",
    questionnaire_task: "Zu den Vergleichen",
    questionnaire_after: "Einige letzte Fragen",
    prefer_not: "Keine Angabe",
    any_number: "Wählen Sie alles Zutreffende.",
    optional: "freiwillig",
    choose_one: "Wählen Sie eine der Antworten.",
    number_between: "Geben Sie eine Zahl von {low} bis {high} ein.",
    text_needed: "Schreiben Sie hier ein paar Worte.",
    // Stated cost
    stated_before: "Ihre erste Einschätzung",
    stated_after: "Ihre Einschätzung jetzt",
    stated_before_intro: "Bevor Sie Zahlen sehen: Wie verhalten sich die beiden Fehler für Sie zueinander? Es gibt keine \
        richtige Antwort.",
    stated_after_intro: "Sie haben viele Systeme verglichen. Wie verhalten sich die beiden Fehler jetzt für Sie \
        zueinander? Es muss nicht dasselbe sein wie am Anfang.",
    stated_range: "Wenn Sie unsicher sind, geben Sie einen Bereich an",
    stated_low: "mindestens",
    stated_high: "höchstens",
    cannot_say: "Das kann ich nicht sagen",
    stated_missing: "Geben Sie eine Zahl größer als 0 ein oder wählen Sie „Das kann ich nicht sagen“.",
    stated_range_wrong: "Der Bereich muss von einer kleineren zu einer größeren Zahl gehen, mit Ihrer Zahl dazwischen.",
    // Consequences
    consequences_title: "Was die Fehler bedeuten",
    consequences_intro: "Kein System hat immer recht. Bitte lesen Sie, was jeder Fehler für den Menschen bedeutet. Mit \
        „Hilfe“ kommen Sie bei jeder Frage hierher zurück.",
    source: "Quelle: {source}",
    // Learning the picture
    learn_title: "So lesen Sie das Bild",
    learn_truth: "Das getönte Feld ist, was wahr ist. Es ist für beide Systeme gleich.",
    learn_prediction: "Die umrahmten Felder sind, was das System vorhersagt. Die mit einem Muster sind seine Fehler.",
    learn_kinds: "Jede Zeile ist eine Art von Fehler. Die Zahl sagt, wie viele von {count} {people} das trifft.",
    learn_meter: "Der Balken zeigt dieselbe Zahl. Je weniger, desto besser.",
    learn_groups: "Für jede Art von Fehler sehen Sie, bei wie vielen von 100 Menschen sie vorkommt.",
    learn_gap: "Ein Abstand sagt, bei wie vielen mehr von 100 sie in der einen Gruppe vorkommt als in der anderen. Je kleiner, desto besser.",
    learn_number: "Zum Üben: {number} von {total}",
    check: "Antwort prüfen",
    right: "Das ist richtig.",
    try_again: "Nicht ganz. Sehen Sie noch einmal auf das Bild und versuchen Sie es erneut.",
    worked: "Die Antwort ist: {answer}.",
    // Practice
    practice_number: "Übung {number} von {total}",
    practice_note: "Übung, zählt nicht für Ihr Ergebnis",
    practice_choose: "Wählen Sie das System, das Sie haben möchten. Ein Knopf genügt: Es gibt nichts zu bestätigen.",
    practice_undo: "Vertippt? „Letzte zurücknehmen“ nimmt die vorige Antwort zurück; danach antworten Sie neu.",
    practice_tell: "Sie können nicht sagen, was besser ist? Auch das ist eine Antwort. Probieren Sie es hier aus.",
    begin_title: "Jetzt gilt es",
    begin_text: "Ab hier werden Ihre Antworten gewertet. Es gibt kein Richtig oder Falsch: Wählen Sie, was Sie \
        möchten. Nehmen Sie sich die Zeit, die Sie brauchen.",
    begin: "Beginnen",
    // Comparisons
    question_number: "Frage {number}",
    left_range: "noch etwa {low}–{high}",
    left_about: "noch etwa {high}",
    left_none: "vielleicht die letzte",
    out_of: "von {count} {people}",
    answers: "Ihre Antwort",
    cannot_tell: "Weiß ich nicht",
    undo: "Letzte zurück\u{ad}nehmen",
    show: "Anzeigen",
    counts: "Anzahlen",
    rates: "Anteile",
    mistakes_only: "Nur Fehler",
    shortcuts: "Tastenkürzel",
    shortcut_keys: "a oder ← ist A, b oder → ist B, Leertaste ist „Weiß ich nicht“, u nimmt zurück, r zeigt Anteile, \
        ? öffnet die Hilfe.",
    table_caption: "{system}, von {count} {people}",
    table_truth: "Was wahr ist",
    table_total: "Wie viele",
    table_right: "Richtig vorhergesagt",
    table_wrong: "Fehler",
    conflict_title: "Diese Frage ist schon beantwortet",
    conflict_text: "Ihre Antwort war: {choice}. Um sie zu ändern, gehen Sie weiter und drücken Sie „Letzte \
        zurücknehmen“.",
    // Differences
    difference: "Bei {system}: {list}.",
    and: "und",
    gap_larger: "ein um {points} größerer Abstand bei {mistakes}",
    gap_smaller: "ein um {points} kleinerer Abstand bei {mistakes}",
    gaps_same: "Die Abstände zwischen den Gruppen sind gleich.",
    overall_same: "Insgesamt gibt es gleich viele Fehler.",
    icon_each: "1 Symbol steht für {count} {people}",
    practice_undo_now: "Sie haben geantwortet. Nehmen Sie es jetzt mit „Letzte zurücknehmen“ zurück.",
    practice_undone: "Zurückgenommen. Antworten Sie nun erneut, wie Sie möchten.",
    difference_none: "A und B machen dieselben Fehler.",
    fewer: "{count} {mistakes} weniger",
    more: "{count} {mistakes} mehr",
    as_many: "ebenso viele {mistakes}",
    // Several classes
    mistake_kind: "gesagt: {said}, in Wahrheit: {really}",
    kinds: "Art des Fehlers",
    all_numbers: "Alle Zahlen",
    // Groups
    overall: "Alle zusammen",
    per_hundred: "{mistakes}, je 100 ({class})",
    group: "Gruppe",
    gap_more: "{system}: je 100 {points} mehr für {group} als für {other}.",
    gap_none: "{system}: kein Abstand zwischen den Gruppen.",
    gap_plain: "Abstand zwischen den Gruppen",
    gap_toward: "Abstand: mehr für {group} als für {other}",
    rate_more: "{count} mehr {mistakes} je 100",
    rate_fewer: "{count} weniger {mistakes} je 100",
    group_size: "({count} von {whole})",
    // Result
    finish_title: "Das war alles",
    finish_text: "Es gibt nichts mehr zu beantworten. Mit dem Knopf geben Sie Ihre Antworten ab.",
    finish: "Abgeben",
    result_title: "Vielen Dank",
    result_lead: "Was Ihre Antworten sagen",
    exchange: "1 {dear} wiegt für Sie etwa so schwer wie {amount} {cheap}.",
    exchange_at_least: "1 {dear} wiegt für Sie mindestens so schwer wie {amount} {cheap}; eine obere Grenze setzen \
        Ihre Antworten nicht.",
    interval: "95-%-Intervall: {low} bis {high}",
    unsettled: "Ihre Antworten entscheiden nicht, welchen Fehler Sie für schlimmer halten.",
    no_result: "Ihre Antworten sind gespeichert. Das Forschungsteam wertet sie zusammen mit denen anderer aus.",
    unsettled_result: "Aus Ihren Antworten ergibt sich keine Zahl.",
    receipt_title: "Ihr Beleg",
    receipt_text: "Bewahren Sie diesen Code auf. Mit ihm können Sie prüfen lassen, dass Ihre Antworten unverändert \
        in den Daten stehen.",
    complete: "Abschließen und zurückkehren",
    close_page: "Sie können diese Seite jetzt schließen.",
    // Leaving, returning
    withdraw_title: "Zurückziehen und Ihre Antworten löschen?",
    withdraw_text: "Alles, was Sie geantwortet haben, wird endgültig gelöscht. Sie brauchen keinen Grund zu nennen. \
        Das lässt sich nicht rückgängig machen.",
    withdraw_yes: "Ja, meine Antworten löschen",
    withdraw_no: "Nein, mit der Studie fortfahren",
    withdrawn_title: "Ihre Antworten sind gelöscht",
    withdrawing_title: "Ihre Antworten werden gelöscht",
    withdrawn_text: "Sie haben sich aus der Studie zurückgezogen. Danke für Ihre Zeit. Sie können diese Seite \
        schließen.",
    elsewhere_title: "Anderswo fortgesetzt",
    elsewhere_text: "Die Studie ist auf einem anderen Gerät oder in einem anderen Fenster geöffnet und geht dort \
        weiter. Nichts von Ihren Antworten ist verloren.",
    take_back: "Stattdessen hier fortfahren",
    device_title: "Auf einem anderen Telefon oder Computer fortfahren",
    device_text: "Öffnen Sie dort diesen Link, oder richten Sie die Kamera auf den Code. Sie sind dann genau dort, \
        wo Sie jetzt sind.",
    device_secret: "Der Link gehört nur Ihnen: Wer ihn hat, kann für Sie antworten.",
    device_code: "Code mit dem Link zu Ihrer Stelle in der Studie",
    pause_title: "Pause",
    pause_text: "Alles bis hierher ist gespeichert. Kommen Sie zurück, wann Sie möchten, mit Ihrem Link oder mit \
        dieser Seite.",
    // When something is wrong
    answers_kept: "Ihre Antworten sind aufbewahrt.",
    error_title: "Etwas ist schiefgegangen",
    error_text: "Der Server konnte das nicht ausführen. Bitte versuchen Sie es gleich noch einmal.",
    missing_title: "Hier ist nichts",
    missing_text: "Die Adresse gehört nicht zur Studie.",
    link_title: "Bitte öffnen Sie Ihren Link",
    link_text: "Um teilzunehmen, öffnen Sie den Link, den Sie erhalten haben. Falls Sie das gerade getan haben, \
        gilt er nicht oder nicht mehr: Bitte fragen Sie die Person, die ihn gesendet hat.",
    stale_title: "Diese Seite war veraltet",
    stale_text: "Bitte fahren Sie von Ihrer Stelle aus fort.",
    preview: "Vorschau: nichts wird gespeichert",
    // A panel
    panel_code: "Ihr Abschlusscode",
    panel_return: "Zurück, woher Sie kamen",
    full_title: "Alle Plätze sind vergeben",
    full_text: "Es nehmen schon genug Menschen teil. Über Sie wurde nichts gespeichert. Danke für Ihr Interesse.",
    early_title: "Diese Studie hat noch nicht begonnen",
    early_text: "Bitte kommen Sie später mit derselben Adresse wieder. Über Sie wurde nichts gespeichert.",
    over_title: "Diese Studie ist zu Ende",
    over_text: "Es kann niemand mehr neu teilnehmen. Über Sie wurde nichts gespeichert. Danke für Ihr Interesse.",
    nameless_title: "Bitte beginnen Sie bei Ihrem Panel",
    nameless_text: "In der Adresse fehlt, woran wir Ihren Platz erkennen. Öffnen Sie die Studie noch einmal von der \
        Seite des Panels, das Sie eingeladen hat.",
    again_title: "Sie haben schon teilgenommen",
    again_text: "Ihre Antworten sind gespeichert. Hier ist nichts mehr zu tun.",
    again_look: "Die letzte Seite noch einmal ansehen",
    screened_title: "Diese Studie ist für andere",
    screened_text: "Danke für Ihre Antworten. Die Studie sucht Menschen in einer anderen Lage und endet deshalb \
        hier für Sie.",
    // With a count
    overall_more: Forms {
        one: "{count} Fehler je 1.000 insgesamt mehr",
        other: "{count} Fehler je 1.000 insgesamt mehr",
    },
    overall_fewer: Forms {
        one: "{count} Fehler je 1.000 insgesamt weniger",
        other: "{count} Fehler je 1.000 insgesamt weniger",
    },
    points: Forms { one: "{count} Punkt", other: "{count} Punkte" },
    others_same: Forms {
        one: "Die eine weitere Art von Fehlern ({count}) ist bei A und B gleich.",
        other: "Die anderen {count} Arten von Fehlern sind bei A und B gleich.",
    },
    consistency: Forms {
        one: "Einmal wurden Sie dasselbe zweimal gefragt; gleich geantwortet haben Sie dabei {same} von {total} Mal.",
        other: "Bei wiederholten Fragen haben Sie {same} von {total} Mal gleich geantwortet.",
    },
};
