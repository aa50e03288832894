import { deviceErrorMessages } from '../../../shared/device.ts'
import { errorNames, sentenceOf } from '../../../shared/result-codes.ts'
import { isKnownParameter, maxWithheld } from './redacted-parameters.ts'

/** Placeholder of a hidden word. */
const hiddenWord = '[…]'
const maxMessage = 300

const fixed = new Set<string>(['', ...errorNames.map(sentenceOf), ...Object.values(deviceErrorMessages)])
/** Words of the controller's own sentences. */
const ownWords = new Set(
  [
    ...fixed,
    'is must be at most bytes of UTF-8 missing malformed given more than once text whole number from to camera answered login status',
  ]
    .join(' ')
    .toLowerCase()
    .split(/[^a-z\d]+/),
)

/**
 * A message as it may be shown. The controller's sentences do not quote a request, but a camera's words may, and a name that a caller made up may stand in one: words that occur in what is
 * withheld of this request are hidden.
 */
export function shownMessage(message: string, withheld: readonly string[]): string {
  if (fixed.has(message) || withheld.length === 0) return bounded(message)
  const size = withheld.reduce((sum, text) => sum + text.length, 0)
  const texts = size > maxWithheld ? undefined : withheld.flatMap(spellings).join('\n')
  const pieces = [...new Set(texts?.split(/[^\p{L}\p{N}]+/u))].filter(isReporting)
  return bounded(message)
    .split(/(\s+|[,;()"])/)
    .map((word) => {
      const bare = word.replace(/[.:!?]+$/, '')
      if (!isReporting(bare) || isKnownParameter(bare)) return word
      const isQuoted = texts === undefined || texts.includes(bare) || pieces.some((piece) => bare.includes(piece))
      return isQuoted ? hiddenWord : word
    })
    .join('')
}

/** Long enough to tell something, and not one of the controller's own words. */
function isReporting(word: string): boolean {
  return word.length >= 3 && !ownWords.has(word.toLowerCase())
}

/** As it was sent, and as it is written where it has to be escaped. */
function spellings(text: string): string[] {
  try {
    return [text, encodeURI(text), decodeURIComponent(text)]
  } catch {
    // A lone surrogate or a broken escape: there is no other spelling.
    return [text]
  }
}

function bounded(text: string): string {
  return text.length > maxMessage ? `${text.slice(0, maxMessage)}…` : text
}
