import { computed } from 'vue'
import { useI18n } from 'vue-i18n'
import { shownValues } from '../../../../shared/console/event-matcher.ts'
import { type EventEntry, type EventFilter, maxSearchedWords } from '../../../../shared/domain/events.ts'
import { foldedText } from '../../../../shared/folded-text.ts'
import { useEventText } from './useEventText.ts'

const eastAsian = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`
const isEastAsian = new RegExp(`[${eastAsian}]`, 'u')
/** Words without quotes and brackets; text in a script without spaces, e.g. Chinese, is separate from other text. */
const runs = new RegExp(`[${eastAsian}]+|[^${eastAsian}\\s“”„‚‘’'"«»「」『』()\\[\\]{}×…]+`, 'gu')
const edges = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu

/** A sentence of the catalogue: its fixed parts, case-folded, and the names of its placeholders. */
interface SentencePattern {
  name: string
  fixed: readonly string[]
  placeholders: readonly string[]
}

/**
 * Searches events by their text in the operator's language. The controller receives the words, with the sentences of
 * that language that may contain them; `shows` then tests the displayed text.
 */
export function useEventSearch() {
  const { tm } = useI18n({ useScope: 'global' })
  const { sentence, subjectText, actorText } = useEventText()

  const patterns = computed(() => {
    const { kinds, changes, unknown, unknownChange } = { ...textsOf(tm('eventLog')) }
    return Object.entries({ ...leaves({ kinds, changes, unknown, unknownChange }) }).map(([name, text]) =>
      patternOf(name, text),
    )
  })

  /** Texts of the catalogue that a placeholder may contain. */
  const vocabulary = computed<Readonly<Record<string, string>>>(() => {
    const text = (key: string, end = ''): string =>
      foldedText(
        Object.entries(leaves(tm(key)))
          .flatMap(([path, each]) => (path.endsWith(end) ? [each] : []))
          .join(' '),
      )
    return {
      away: text('time'),
      stayed: text('time'),
      reason: text('devices.short'),
      found: text('nodes.drift.kinds'),
      made_by: text('eventLog.actors'),
      error: `${text('nodes.sentences')} ${text('refusals')}`,
      what: text('eventLog.check.faults'),
      fields: `${text('settings.fields', 'label')} ${text('eventLog.fields')}`,
    }
  })

  /** Names of types and actors with their texts. */
  const names = computed(() =>
    ['eventLog.types', 'eventLog.actors', 'overview.state']
      .flatMap((key) => Object.entries(leaves(tm(key))))
      .map(([name, text]) => [name, foldedText(text)] as const),
  )

  function mayContain(piece: string, { fixed, placeholders }: SentencePattern): boolean {
    if (fixed.some((part) => meets(part, piece))) return true
    return placeholders.some((name) => {
      if (name === 'last_seen') return true
      if ((name === 'away' || name === 'stayed') && /\d/.test(piece)) return true
      return vocabulary.value[name]?.includes(piece) === true
    })
  }

  /**
   * Returns the words for the controller. They match every entry whose displayed text contains the typed words, and
   * possibly others.
   */
  function wordsOf(typed: string): NonNullable<EventFilter['words']> {
    const pieces = foldedText(typed)
      .match(runs)
      ?.map((run) => run.replace(edges, ''))
    return [...new Set(pieces)]
      .filter((piece) => piece !== '')
      .slice(0, maxSearchedWords)
      .map((piece) => ({
        text: piece,
        sentences: patterns.value
          // The sentences of these kinds contain other texts, so every piece may match them.
          .filter(
            (one) =>
              ['kinds.log.gathered', 'kinds.device.short', 'kinds.person.short'].includes(one.name) ||
              mayContain(piece, one),
          )
          .map(({ name }) => name),
        names: names.value.filter(([, text]) => text.includes(piece)).map(([name]) => name),
      }))
  }

  /** Returns a test of whether the displayed text of an entry contains the typed words. */
  function shows(typed: string): (entry: EventEntry) => boolean {
    const words = foldedText(typed).split(' ').filter(Boolean)
    if (words.length === 0) return () => true
    return (entry) => {
      const read = [sentence(entry), subjectText(entry.subject), actorText(entry), entry.actor.address]
      const text = `${foldedText(read.join(' '))} ${shownValues(entry)}`
      return words.every((word) => text.includes(word))
    }
  }

  return { wordsOf, shows }
}

/**
 * Returns whether a part of a sentence may contain a piece of a word. In scripts without spaces, a piece may also
 * extend into a value.
 */
function meets(part: string, piece: string): boolean {
  if (part.includes(piece)) return true
  if (part === '' || !isEastAsian.test(piece)) return false
  if (piece.includes(part)) return true
  return Array.from({ length: piece.length - 1 }, (_, at) => at + 1).some(
    (at) => part.startsWith(piece.slice(at)) || part.endsWith(piece.slice(0, at)),
  )
}

function patternOf(name: string, text: string): SentencePattern {
  const placeholders = [...text.matchAll(/\{(\w+)\}/g)].map(([, placeholder = '']) => placeholder)
  const fixed = text.split(/\{\w+\}| \| /).map((part) => foldedText(part).replace(edges, ''))
  return { name, fixed: fixed.filter((part) => part !== ''), placeholders }
}

const textsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** Texts of a catalogue by their dotted path. */
function leaves(value: unknown, path = ''): Record<string, string> {
  if (typeof value === 'string') return { [path]: value }
  return Object.assign(
    {},
    ...Object.entries(textsOf(value)).map(([name, each]) => leaves(each, path === '' ? name : `${path}.${name}`)),
  ) as Record<string, string>
}
