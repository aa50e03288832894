// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/
/** Bidi_Control of Unicode (UAX #9): they change the order in which the text around them is shown. */
const directionControl = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const unsafe = new RegExp(`${controlCharacter.source}|${directionControl.source}`)
const everyUnsafe = new RegExp(unsafe.source, 'g')

/** Whether a text holds a control character (Unicode category Cc: C0, DEL and C1), NUL included. */
export function hasControlCharacter(text: string): boolean {
  return controlCharacter.test(text)
}

/** Whether a text holds what no name may hold: a control character, or one that changes the direction of the text around it. */
export function hasUnsafeCharacter(text: string): boolean {
  return unsafe.test(text)
}

/** A name as it is shown: each character that no name may hold is U+FFFD. Names of earlier versions and of other clients may hold some. */
export function shownName(text: string): string {
  return unsafe.test(text) ? text.replace(everyUnsafe, '\ufffd') : text
}

/** A name as it was typed, without the characters that no name may hold: pasted text brings direction marks along. */
export function typedName(text: string): string {
  return text.replace(everyUnsafe, '').trim()
}
