import { computed, reactive } from 'vue'
import {
  type EventFilter,
  type EventGroup,
  eventGroupNames,
  type EventLevel,
  subjectTypes,
  type SubjectType,
} from '../../../../shared/console/events.ts'

/** Values of the controls above the log; empty texts and zeros do not filter. */
export interface EventChoice {
  text: string
  group: EventGroup | ''
  level: EventLevel
  /** Type and key of a subject; empty: all. */
  subjectType: SubjectType | ''
  subject: string
  actor: string
  /** Maximum age in milliseconds, from the moment it was chosen. */
  age: number
}

const nothing = (): EventChoice => ({
  text: '',
  group: '',
  level: 'info',
  subjectType: '',
  subject: '',
  actor: '',
  age: 0,
})

/** The filter of the log, initialised from the query of the page's address, e.g. `?type=room&id=4711`. */
export function useEventFilter(query: Readonly<Record<string, unknown>>) {
  const choice = reactive<EventChoice>({ ...nothing(), ...chosenBy(query) })
  const filter = computed<EventFilter>(() => askedFor(choice))
  const active = computed(() => JSON.stringify(choice) !== JSON.stringify(nothing()))

  function clear(): void {
    Object.assign(choice, nothing())
  }

  return { choice, filter, active, clear }
}

/** Makes the filter for the controller. */
function askedFor(choice: EventChoice, now = Date.now()): EventFilter {
  const { text, group, level, subjectType, subject, actor, age } = choice
  return {
    text: text.trim().slice(0, 200),
    level,
    ...(group === '' ? {} : { groups: [group] }),
    ...(subjectType === '' || subject === '' ? {} : { subject: { type: subjectType, id: subject } }),
    ...(actor === '' ? {} : { actor }),
    ...(age === 0 ? {} : { from: now - age }),
  }
}

function chosenBy({ type, id, group, text }: Readonly<Record<string, unknown>>): Partial<EventChoice> {
  const subjectType = subjectTypes.find((one) => one === type)
  const chosen = eventGroupNames.find((one) => one === group)
  return {
    ...(subjectType !== undefined && typeof id === 'string' ? { subjectType, subject: id } : {}),
    ...(chosen === undefined ? {} : { group: chosen }),
    ...(typeof text === 'string' ? { text } : {}),
  }
}

/** Makes the address of the page with the events of one subject. */
export function eventsOf(type: SubjectType, id: string): string {
  return `/events?${new URLSearchParams({ type, id }).toString()}`
}
