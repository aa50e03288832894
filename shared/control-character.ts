// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/
/**
 * Invisible characters: controls, formats, line and paragraph separators, all invisible characters of
 * Default_Ignorable_Code_Point (which includes the Hangul fillers), and letters and symbols with a blank glyph.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800\u{1d159}]/u
/** Character with its own glyph. Marks are excluded, because they only change the glyph of the previous character. */
const seen = /[^\s\p{M}]/u
/** Scripts that do not need joiners. In these scripts, a joiner would only make two equal-looking names differ. */
const plainScripts = String.raw`\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}`
/**
 * Patterns of joiners and variation selectors that a script or an emoji requires, including the preceding character
 * (UTS #51, UAX #31 section 2.3, UTS #37).
 */
const needed = [
  String.raw`\p{ExtPict}[\ufe0f\u{1f3fb}-\u{1f3ff}]?(?:\u200d(?=\p{ExtPict}))?`,
  String.raw`[0-9#*]\ufe0f`,
  String.raw`(?![${plainScripts}])\p{L}(?:(?!\p{DI})\p{M})*[\u200c\u200d](?=(?!\p{DI})\p{L})`,
  String.raw`\p{sc=Hani}[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`,
  String.raw`\p{sc=Mong}[\u180b-\u180d\u180f]`,
].join('|')
const everyNeeded = new RegExp(needed, 'gu')
const neededOrUnseen = new RegExp(`(${needed})|${unseen.source}`, 'gu')

/** Whether a text contains a control character (Unicode category Cc: C0, DEL and C1), including NUL. */
export function hasControlCharacter(text: string): boolean {
  return controlCharacter.test(text)
}

/**
 * Whether a text contains a character that is forbidden in names: an invisible character that its script does not
 * require, or a character that changes the text direction.
 */
function hasUnsafeCharacter(text: string): boolean {
  return unseen.test(text) && unseen.test(text.replace(everyNeeded, ''))
}

/** Whether a text is a valid name: empty, or without unsafe characters and not only spaces and marks. */
export function isName(text: string): boolean {
  return text === '' || (seen.test(text) && !hasUnsafeCharacter(text))
}

/**
 * Returns a name for display: replaces each forbidden character by U+FFFD, and prepends U+FFFD if the text consists of
 * marks only. Names of earlier versions and of other clients may contain forbidden characters.
 */
export function shownName(text: string): string {
  const shown = withoutUnseen(text, '\ufffd')
  return seen.test(shown) || shown.trim() === '' ? shown : `\ufffd${shown}`
}

/**
 * Returns a typed name without forbidden characters: pasted text often contains direction marks. Returns an empty text
 * if no visible character remains.
 */
export function typedName(text: string): string {
  const typed = withoutUnseen(text, '').trim()
  return seen.test(typed) ? typed : ''
}

function withoutUnseen(text: string, replacement: string): string {
  if (!unseen.test(text)) return text
  return text.replace(neededOrUnseen, (_, kept: string | undefined) => kept ?? replacement)
}
