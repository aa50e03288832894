import { shownName } from '../../shared/control-character.ts'
import type { EventFields } from '../../shared/console/events.ts'
import type { EventContent } from './entry-line.ts'

/** Characters of one text of an entry. */
const maxText = 300
/** Fields of one part of an entry. */
const maxFields = 40

/** An entry whose line is at most some 60 kB, whatever somebody called a room. */
export function boundedContent(content: EventContent): EventContent {
  const { actor, subject, params, before, after, room, ...rest } = content
  return {
    ...rest,
    actor: { type: actor.type, name: shown(actor.name), address: short(actor.address) },
    subject: { type: subject.type, id: short(subject.id), name: shown(subject.name) },
    room: short(room),
    params: boundedFields(params),
    ...(before === undefined ? {} : { before: boundedFields(before) }),
    ...(after === undefined ? {} : { after: boundedFields(after) }),
  }
}

function boundedFields(fields: EventFields): EventFields {
  const entries = Object.entries(fields)
  const isShort =
    entries.length <= maxFields && entries.every(([, value]) => typeof value !== 'string' || shown(value) === value)
  if (isShort) return fields
  const kept = entries.slice(0, maxFields)
  return Object.fromEntries(
    kept.map(([name, value]) => [short(name), typeof value === 'string' ? shown(value) : value]),
  )
}

/** A text that may hold names of an earlier version. */
function shown(text: string): string {
  return short(shownName(text))
}

function short(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}
