// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/
/** Bidi_Control of Unicode (UAX #9): characters that change the display order of the text around them. */
const directionControl = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const unsafe = new RegExp(`${controlCharacter.source}|${directionControl.source}`)
const everyUnsafe = new RegExp(unsafe.source, 'g')

/** Tells whether a text contains a control character (Unicode category Cc: C0, DEL and C1), including NUL. */
export function hasControlCharacter(text: string): boolean {
  return controlCharacter.test(text)
}

/** Tells whether a text contains a character that names may not have: a control character, or one that changes the text direction. */
export function hasUnsafeCharacter(text: string): boolean {
  return unsafe.test(text)
}

/** A name for display: replaces each forbidden character by U+FFFD. Names of earlier versions and of other clients may contain some. */
export function shownName(text: string): string {
  return unsafe.test(text) ? text.replace(everyUnsafe, '\ufffd') : text
}

/** A typed name without forbidden characters: pasted text often contains direction marks. */
export function typedName(text: string): string {
  return text.replace(everyUnsafe, '').trim()
}
