/** Folds case, width and diacritics, and replaces sequences of blanks and control characters by single spaces. */
export function foldedText(text: string): string {
  const folded = foldedLetters(text)
  return /[^\S ]|\p{Cc}| {2}|^ | $/u.test(folded) ? folded.replace(/[\s\p{Cc}]+/gu, ' ').trim() : folded
}

/** Folds the letters of a text. A text without letters to fold keeps its length. */
function foldedLetters(text: string): string {
  const lower = text.toLowerCase()
  // Most texts are ASCII, which normalization would not change.
  return /^[\x20-\x7e]*$/.test(lower) ? lower : lower.normalize('NFKD').replace(/\p{M}/gu, '')
}

/** Returns the folded words of a search, at most eight. */
export function searchWords(text: string): string[] {
  return foldedText(text)
    .split(' ')
    .filter((word) => word !== '')
    .slice(0, 8)
}

export interface TextPiece {
  text: string
  /** Whether the piece matches a word of the search. */
  matched: boolean
}

/** Splits a text into pieces that match a word of the search and pieces that do not. */
export function matchedPieces(text: string, words: readonly string[]): TextPiece[] {
  const letters = Array.from(text)
  let folded = ''
  /** Index of the original letter for each UTF-16 unit of `folded`. */
  const origins: number[] = []
  for (const [index, letter] of letters.entries()) {
    const part = foldedLetters(letter)
    folded += part
    for (let units = part.length; units > 0; units--) origins.push(index)
  }
  const marks = letters.map(() => false)
  for (const word of words) {
    if (word === '') continue
    for (let at = folded.indexOf(word); at !== -1; at = folded.indexOf(word, at + word.length)) {
      const [from = 0, to = 0] = [origins[at], origins[at + word.length - 1]]
      marks.fill(true, from, to + 1)
    }
  }
  const pieces: TextPiece[] = []
  for (const [index, letter] of letters.entries()) {
    const matched = marks[index] ?? false
    const last = pieces.at(-1)
    if (last?.matched === matched) last.text += letter
    else pieces.push({ text: letter, matched })
  }
  return pieces
}
