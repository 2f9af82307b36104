//! Spanish.

use super::{Forms, Words};

pub const WORDS: Words = Words {
    // Around every page
    skip: "Ir al contenido",
    help: "Ayuda",
    language: "Idioma",
    pause: "Pausa",
    withdraw: "Retirarse y borrar",
    another_device: "Continuar en otro dispositivo",
    proceed: "Continuar",
    back: "Volver al estudio",
    saved: "Guardado",
    saving: "Guardando …",
    waiting: "Esperando conexión, 1 respuesta guardada en este dispositivo",
    problems: "Revise esto, por favor",
    // Language
    language_title: "Elija su idioma",
    language_hint: "Puede cambiarlo en cualquier momento. Las preguntas siguen siendo las mismas.",
    // Consent
    consent_title: "Antes de empezar",
    consent_check: "He leído este texto y participo por voluntad propia.",
    consent_yes: "Aceptar y empezar",
    consent_no: "No quiero participar",
    consent_missing: "Marque la casilla si está de acuerdo, o elija no participar.",
    declined_title: "No participa",
    declined_text: "Está en su derecho. No se ha guardado ninguna respuesta suya y puede cerrar esta página. Si \
        cambia de opinión, abra de nuevo su enlace.",
    // Questionnaire
    questionnaire_before: "Algunas preguntas sobre usted",
    questionnaire_task: "Sobre las comparaciones",
    questionnaire_after: "Unas últimas preguntas",
    prefer_not: "Prefiero no responder",
    any_number: "Marque todo lo que corresponda.",
    optional: "opcional",
    choose_one: "Elija una de las respuestas.",
    number_between: "Escriba un número de {low} a {high}.",
    text_needed: "Escriba aquí unas palabras.",
    // Stated cost
    stated_before: "Su primera estimación",
    stated_after: "Su estimación ahora",
    stated_before_intro: "Antes de ver números: ¿cómo compara usted los dos errores? No hay una respuesta correcta.",
    stated_after_intro: "Ha comparado muchos sistemas. ¿Cómo compara ahora los dos errores? No tiene que ser lo que dijo \
        al principio.",
    stated_range: "Si no está seguro, indique un intervalo",
    stated_low: "al menos",
    stated_high: "como mucho",
    cannot_say: "No sabría decirlo",
    stated_missing: "Escriba un número mayor que 0, o elija «No sabría decirlo».",
    stated_range_wrong: "El intervalo debe ir del número menor al mayor e incluir el suyo.",
    // Consequences
    consequences_title: "Qué significan los errores",
    consequences_intro: "Ningún sistema acierta siempre. Lea, por favor, qué significa cada error para la persona. Puede \
        volver aquí en cada pregunta con «Ayuda».",
    source: "Fuente: {source}",
    // Learning the picture
    learn_title: "Cómo leer la imagen",
    learn_truth: "El recuadro sombreado es lo que es verdad. Es igual para los dos sistemas.",
    learn_prediction: "Los recuadros con borde son lo que predice el sistema. Los que tienen trama son sus errores.",
    learn_number: "Práctica {number} de {total}",
    check: "Comprobar mi respuesta",
    right: "Correcto.",
    try_again: "No exactamente. Mire otra vez la imagen e inténtelo de nuevo.",
    worked: "La respuesta es: {answer}.",
    // Practice
    practice_number: "Ensayo {number} de {total}",
    practice_note: "Ensayo, no cuenta para su resultado",
    practice_choose: "Elija el sistema que usted querría. Basta un botón: no hay que confirmar nada.",
    practice_undo: "¿Se ha equivocado? «Deshacer la última» retira la respuesta anterior; después responda de nuevo.",
    practice_tell: "¿No sabe cuál es mejor? Decirlo también es una respuesta. Pruébelo aquí.",
    begin_title: "Ahora cuenta",
    begin_text: "A partir de aquí se registran sus respuestas. No hay respuestas correctas ni incorrectas: elija \
        lo que usted querría. Tómese el tiempo que necesite.",
    begin: "Empezar",
    // Comparisons
    question_number: "Pregunta {number}",
    left_range: "quedan unas {low}–{high}",
    left_about: "quedan unas {high}",
    left_none: "quizá la última",
    out_of: "de {count} {people}",
    answers: "Su respuesta",
    cannot_tell: "No lo sé",
    undo: "Deshacer la última",
    show: "Mostrar",
    counts: "Números",
    rates: "Porcentajes",
    mistakes_only: "Solo errores",
    shortcuts: "Atajos de teclado",
    shortcut_keys: "a o ← es A, b o → es B, espacio es «No lo sé», u deshace, r muestra porcentajes, ? abre la \
        ayuda.",
    table_caption: "{system}, de {count} {people}",
    table_truth: "Lo que es verdad",
    table_total: "Cuántas",
    table_right: "Predichas correctamente",
    table_wrong: "Errores",
    conflict_title: "Esta pregunta ya tiene respuesta",
    conflict_text: "Su respuesta fue: {choice}. Para cambiarla, continúe y pulse «Deshacer la última».",
    // Differences
    difference: "Con {system}: {list}.",
    and: "y",
    overall_more: "{count} errores más por cada 1000 en total",
    overall_fewer: "{count} errores menos por cada 1000 en total",
    gap_larger: "una diferencia de {mistakes} {points} puntos mayor",
    gap_smaller: "una diferencia de {mistakes} {points} puntos menor",
    gaps_same: "Las diferencias entre los grupos son las mismas.",
    overall_same: "En total hay el mismo número de errores.",
    icon_each: "1 símbolo son {count} {people}",
    practice_undo_now: "Ha respondido. Pulse ahora «Deshacer la última» para retirarla.",
    practice_undone: "Retirada. Responda ahora de nuevo, como quiera.",
    difference_none: "A y B cometen los mismos errores.",
    fewer: "{count} {mistakes} menos",
    more: "{count} {mistakes} más",
    as_many: "igual número de {mistakes}",
    // Several classes
    mistake_kind: "dijo {said}, en realidad {really}",
    kinds: "Tipo de error",
    all_numbers: "Todos los números",
    // Groups
    overall: "Todos",
    per_hundred: "{mistakes}, por cada 100 que {class}",
    group: "Grupo",
    gap_more: "{system}: {points} más por cada 100 en «{group}» que en «{other}».",
    gap_none: "{system}: sin diferencia entre grupos.",
    group_size: "({count} de cada {whole})",
    // Result
    finish_title: "Eso era todo",
    finish_text: "No queda nada por responder. Pulse el botón para entregar sus respuestas.",
    finish: "Entregar",
    result_title: "Gracias",
    result_lead: "Lo que dicen sus respuestas",
    exchange: "Usted acepta unas {amount} {cheap} más para evitar 1 {dear}.",
    exchange_at_least: "Usted acepta al menos {amount} {cheap} más para evitar 1 {dear}; sus respuestas no fijan un \
        límite superior.",
    interval: "Intervalo del 95 %: de {low} a {high}",
    unsettled: "Sus respuestas no permiten decir qué error considera peor.",
    no_result: "Sus respuestas están registradas. El equipo de investigación las estudiará junto con las de \
        otras personas.",
    receipt_title: "Su comprobante",
    receipt_text: "Guarde este código. Con él puede pedir que se compruebe que sus respuestas están en el registro, \
        sin cambios.",
    complete: "Terminar y volver",
    close_page: "Ya puede cerrar esta página.",
    // Leaving, returning
    withdraw_title: "¿Retirarse y borrar sus respuestas?",
    withdraw_text: "Se borrará para siempre todo lo que ha respondido. No tiene que dar ningún motivo. No se puede \
        deshacer.",
    withdraw_yes: "Sí, borrar mis respuestas",
    withdraw_no: "No, seguir con el estudio",
    withdrawn_title: "Sus respuestas están borradas",
    withdrawn_text: "Se ha retirado del estudio. Gracias por su tiempo. Puede cerrar esta página.",
    elsewhere_title: "Continúa en otro lugar",
    elsewhere_text: "El estudio está abierto en otro dispositivo o en otra ventana y sigue allí. No se ha perdido \
        ninguna de sus respuestas.",
    take_back: "Continuar aquí",
    device_title: "Continuar en otro teléfono u ordenador",
    device_text: "Abra allí este enlace, o apunte con la cámara al código. Estará exactamente donde está ahora.",
    device_secret: "El enlace es solo suyo: quien lo tenga puede responder por usted.",
    device_code: "Código con el enlace a su lugar en el estudio",
    pause_title: "Pausa",
    pause_text: "Todo está guardado hasta aquí. Vuelva cuando quiera, con el enlace que recibió o con esta \
        página.",
    // When something is wrong
    answers_kept: "Sus respuestas están guardadas.",
    error_title: "Algo ha fallado",
    error_text: "El servidor no ha podido hacerlo. Inténtelo de nuevo dentro de un momento.",
    missing_title: "Aquí no hay nada",
    missing_text: "La dirección no pertenece al estudio.",
    link_title: "Abra su enlace, por favor",
    link_text: "Para participar, abra el enlace que recibió. Si acaba de hacerlo, no es válido o ya no lo es: \
        pregunte a la persona que se lo envió.",
    stale_title: "Esta página ya no estaba al día",
    stale_text: "Continúe, por favor, desde donde está.",
    // With a count
    others_same: Forms {
        one: "El otro tipo de error ({count}) es igual en A y en B.",
        other: "Los otros {count} tipos de error son iguales en A y en B.",
    },
    consistency: Forms {
        one: "Una pregunta se le hizo dos veces; respondió lo mismo {same} vez de {total}.",
        other: "A las preguntas repetidas respondió lo mismo {same} de {total} veces.",
    },
};
