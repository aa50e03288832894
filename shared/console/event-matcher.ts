import { foldedText } from '../folded-text.ts'
import { sentenceName } from './event-sentences.ts'
import {
  type EventEntry,
  type EventFilter,
  type EventGroup,
  eventGroups,
  eventLevels,
  type SubjectType,
} from '../domain/events.ts'

/** Returns the event kinds of the given groups; undefined: all kinds. */
function kindsOf(groups: readonly EventGroup[] = []): ReadonlySet<string> | undefined {
  return groups.length === 0 ? undefined : new Set(groups.flatMap((group) => [...eventGroups[group]]))
}

/** Returns a function that tests entries against a filter. Used by the controller and the console's page. */
export function eventMatcher(wanted: EventFilter): (entry: EventEntry) => boolean {
  const { subject, actor, from = 0, to = Number.POSITIVE_INFINITY, level = 'info' } = wanted
  const kinds = kindsOf(wanted.groups)
  const only = wanted.kinds === undefined ? undefined : new Set<string>(wanted.kinds)
  const minLevel = eventLevels.indexOf(level)
  const text = wanted.text?.trim().toLowerCase() ?? ''
  const containsWords = wordMatcher(wanted.words ?? [])
  return (entry) =>
    entry.at >= from &&
    entry.at <= to &&
    (kinds === undefined || kinds.has(entry.kind)) &&
    (only === undefined || only.has(entry.kind)) &&
    eventLevels.indexOf(entry.level) >= minLevel &&
    (subject === undefined || concerns(entry, subject)) &&
    (actor === undefined || entry.actor.name === actor || entry.actor.address === actor) &&
    (text === '' || textOf(entry).includes(text)) &&
    containsWords(entry)
}

/** Whether an entry concerns a subject. Events of users in a room also concern the room. */
function concerns(entry: EventEntry, { type, id }: { type: SubjectType; id: string }): boolean {
  return (entry.subject.type === type && entry.subject.id === id) || (type === 'room' && entry.room === id)
}

/** Returns the searchable text of an entry: its values, and the names of its parameters and of changed fields. */
function textOf({ kind, actor, subject, room, params, before = {}, after = {} }: EventEntry): string {
  const values = [params, before, after].flatMap((each) => [...Object.keys(each), ...Object.values(each).map(String)])
  return [kind, actor.name, actor.address, subject.id, subject.name, room, ...values].join('\n').toLowerCase()
}

/**
 * Returns a function that tests whether an entry contains all words: in its values, in its sentence, or in the names of
 * its subject and actor.
 */
function wordMatcher(wanted: NonNullable<EventFilter['words']>): (entry: EventEntry) => boolean {
  if (wanted.length === 0) return () => true
  const words = wanted.map(({ text, sentences, names }) => ({
    text,
    sentences: new Set<string>(sentences),
    names: new Set(names),
  }))
  return (entry) => {
    const sentence = sentenceName(entry)
    const { actor, subject } = entry
    const named = [actor.type, actor.name || 'stranger', subject.type, subject.id]
    let values: string | undefined
    return words.every(
      ({ text, sentences, names }) =>
        sentences.has(sentence) ||
        named.some((name) => names.has(name)) ||
        (values ??= shownValues(entry)).includes(text),
    )
  }
}

/** Returns the folded values of an entry that a page may show, without codes and field names. */
export function shownValues({ actor, subject, room, params, before = {}, after = {}, controller }: EventEntry): string {
  const { procedure: _, ...facts } = params
  const values = [facts, before, after].flatMap((each) => Object.values(each).map(String))
  const texts = [actor.name, actor.address, subject.id, subject.name, room, controller?.name ?? '', ...values]
  return foldedText(texts.join(' '))
}
