import { computed } from 'vue'
import {
  type EventFilter,
  type EventGroup,
  eventGroupNames,
  type EventKind,
  eventKinds,
  type EventLevel,
  subjectTypes,
  type SubjectType,
} from '../../../../shared/domain/events.ts'
import { type PageQuery, useQueryChoice } from '../../composables/useQueryChoice.ts'

/** Values of the controls above the log; empty texts and zeros do not filter. */
export interface EventChoice {
  text: string
  /** One kind, or all of a group; empty: all. */
  kind: EventKind | EventGroup | ''
  level: EventLevel
  /** Type and key of a subject; empty: all. */
  subjectType: SubjectType | ''
  subject: string
  actor: string
  /** Maximum age in milliseconds at the time of the choice; 0: any; or `between`. */
  age: number
  /** Limits of `between` in local time, in the format of a date and time field; empty: no limit. */
  from: string
  to: string
}

/** Value of `age` for a range between two times. */
export const between = -1

/** Returns the words of a search for the controller. */
type WordsOf = (typed: string) => NonNullable<EventFilter['words']>

const nothing = (): EventChoice => ({
  text: '',
  kind: '',
  level: 'info',
  subjectType: '',
  subject: '',
  actor: '',
  age: 0,
  from: '',
  to: '',
})

/** The filter of the log, also by the query of the page's address, e.g. `?type=room&id=4711`. */
export function useEventFilter(wordsOf: WordsOf) {
  const { choice, ...rest } = useQueryChoice(nothing, chosenBy)
  return { choice, ...rest, filter: computed<EventFilter>(() => askedFor(choice, wordsOf)) }
}

/** Returns the filter for the controller. */
function askedFor(choice: EventChoice, wordsOf: WordsOf, now = Date.now()): EventFilter {
  const { text, kind, level, subjectType, subject, actor } = choice
  const group = eventGroupNames.find((one) => one === kind)
  const oneKind = eventKinds.find((one) => one === kind)
  return {
    ...(text.trim() === '' ? {} : { words: wordsOf(text.slice(0, 200)) }),
    level,
    ...(group === undefined ? {} : { groups: [group] }),
    ...(oneKind === undefined ? {} : { kinds: [oneKind] }),
    ...(subjectType === '' || subject === '' ? {} : { subject: { type: subjectType, id: subject } }),
    ...(actor === '' ? {} : { actor }),
    ...timesOf(choice, now),
  }
}

const minuteMs = 60_000

/** Returns the time range in milliseconds; it includes the last minute completely. */
function timesOf({ age, from, to }: EventChoice, now: number): Pick<EventFilter, 'from' | 'to'> {
  if (age > 0) return { from: now - age }
  if (age !== between) return {}
  const [first, last] = [new Date(from).getTime(), new Date(to).getTime()]
  return { ...(Number.isNaN(first) ? {} : { from: first }), ...(Number.isNaN(last) ? {} : { to: last + minuteMs - 1 }) }
}

function chosenBy({ type, id, group, text }: PageQuery): Partial<EventChoice> {
  const subjectType = subjectTypes.find((one) => one === type)
  const chosen = eventGroupNames.find((one) => one === group)
  return {
    ...(subjectType !== undefined && typeof id === 'string' ? { subjectType, subject: id } : {}),
    ...(chosen === undefined ? {} : { kind: chosen }),
    ...(typeof text === 'string' ? { text } : {}),
  }
}

/** Returns the address of the page with the events of one subject. */
export function eventsOf(type: SubjectType, id: string): string {
  return `/events?${new URLSearchParams({ type, id }).toString()}`
}
