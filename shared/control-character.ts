// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/
/**
 * Characters without a picture of their own: controls, formats, line and paragraph separators, everything that is shown as nothing (Default_Ignorable_Code_Point
 * of Unicode, which has the Hangul fillers), and the letters and symbols whose picture is blank.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800\u{1d159}]/u
/** A character with a picture of its own: marks change that of the one before them. */
const seen = /[^\s\p{M}]/u
/** Scripts that join or separate their letters without joiners: there, a joiner only makes two equal-looking names differ. */
const plainScripts = String.raw`\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}`
/** Joiners and variation selectors where a script or an emoji needs them (UTS #51, UAX #31 section 2.3, UTS #37), with the character before them. */
const needed = [
  String.raw`\p{ExtPict}[\ufe0f\u{1f3fb}-\u{1f3ff}]?(?:\u200d(?=\p{ExtPict}))?`,
  String.raw`[0-9#*]\ufe0f`,
  String.raw`(?![${plainScripts}])\p{L}(?:(?!\p{DI})\p{M})*[\u200c\u200d](?=(?!\p{DI})\p{L})`,
  String.raw`\p{sc=Hani}[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`,
  String.raw`\p{sc=Mong}[\u180b-\u180d\u180f]`,
].join('|')
const everyNeeded = new RegExp(needed, 'gu')
const neededOrUnseen = new RegExp(`(${needed})|${unseen.source}`, 'gu')

/** Tells whether a text contains a control character (Unicode category Cc: C0, DEL and C1), including NUL. */
export function hasControlCharacter(text: string): boolean {
  return controlCharacter.test(text)
}

/** Tells whether a text contains a character that names may not have: one without a picture, unless its script needs it, or one that changes the text direction. */
function hasUnsafeCharacter(text: string): boolean {
  return unseen.test(text) && unseen.test(text.replace(everyNeeded, ''))
}

/** Tells whether a text can be a name: empty, or without unsafe characters and not of spaces and marks only. */
export function isName(text: string): boolean {
  return text === '' || (seen.test(text) && !hasUnsafeCharacter(text))
}

/** A name for display: replaces each forbidden character by U+FFFD, and sets it before marks alone. Names of earlier versions and of other clients may contain some. */
export function shownName(text: string): string {
  const shown = withoutUnseen(text, '\ufffd')
  return seen.test(shown) || shown.trim() === '' ? shown : `\ufffd${shown}`
}

/** A typed name without forbidden characters: pasted text often contains direction marks. */
export function typedName(text: string): string {
  const typed = withoutUnseen(text, '').trim()
  return seen.test(typed) ? typed : ''
}

function withoutUnseen(text: string, replacement: string): string {
  if (!unseen.test(text)) return text
  return text.replace(neededOrUnseen, (_, kept: string | undefined) => kept ?? replacement)
}
