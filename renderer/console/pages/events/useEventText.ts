import { awayReason } from '../../../../shared/away-reason.ts'
import type { EventEntry, EventSubject } from '../../../../shared/console/events.ts'
import type { MarkedEvent } from '../../../../shared/console/marks.ts'
import { shortcoming } from '../../../../shared/media/transcoding.ts'
import { storedSentence } from '../../composables/storedSentence.ts'
import { useFormat } from '../../composables/useFormat.ts'
import type { TextKey } from '../../i18n/text.ts'
import { useText } from '../../i18n/text.ts'
import { shortcomingText } from '../devices/tracks.ts'
import { nodeSentence } from '../nodes/nodeSentences.ts'
import { en } from '../../i18n/en/index.ts'

/** Tells whether this dotted key exists: kinds and procedures of a newer controller may be unknown here. */
function isText(key: string): key is TextKey {
  let part: unknown = en
  for (const name of key.split('.')) {
    if (typeof part !== 'object' || part === null) return false
    part = Reflect.get(part, name)
  }
  return typeof part === 'string'
}

/** Translates events for the operator. */
export function useEventText() {
  const { t } = useText()
  const { span, date } = useFormat()

  /** Subject of the event, by name. */
  function subjectText({ type, id, name }: EventSubject): string {
    if (type === 'listener') {
      const key = `overview.state.${id}`
      return isText(key) ? t(key) : id
    }
    if (type === 'settings' || type === 'licence') return t(`eventLog.types.${type}`)
    return name || id || t(`eventLog.types.${type}`)
  }

  /** Names the actor. */
  function actorText({ actor }: EventEntry): string {
    if (actor.type === 'siteFile') return t('eventLog.actors.siteFile')
    if (actor.type === 'host') return t('eventLog.actors.host', { name: actor.name })
    if (actor.type === 'system' || actor.type === 'holder') return t(`eventLog.actors.${actor.type}`)
    if (actor.name === 'console key' || actor.name === 'desktop') return t(`eventLog.actors.${actor.name}`)
    return actor.name || t('eventLog.actors.stranger')
  }

  /** Describes the event in one sentence. */
  function sentence(entry: MarkedEvent): string {
    const key = keyOf(entry)
    if (!isText(key)) return `${entry.kind} ${String(entry.params.procedure ?? '')}`.trim()
    return t(key, valuesOf(entry))
  }

  function valuesOf(entry: MarkedEvent): Record<string, string | number> {
    const { params, before = {}, after = {} } = entry
    const values: Record<string, string | number> = {}
    for (const [name, value] of Object.entries(params)) values[name] = typeof value === 'number' ? value : String(value)
    for (const name of ['away', 'stayed']) {
      const milliseconds = params[`${name}_ms`]
      if (typeof milliseconds === 'number') values[name] = span(milliseconds)
    }
    if (typeof params.last_seen === 'number') values.last_seen = date(params.last_seen)
    const refused = refusedByDatabase.exec(String(params.message))?.[1]
    if (refused !== undefined) values.error = awayReason(refused)
    if (typeof params.error === 'string') values.error = errorText(entry.kind, params.error)
    const reason = `devices.short.${String(params.reason)}`
    if (isText(reason)) values.reason = t(reason)
    if (entry.kind === 'device.short' || entry.kind === 'person.short') values.reason = shortText(params)
    const fault = `eventLog.check.faults.${String(params.fault)}`
    if (entry.kind === 'log.recovered' && isText(fault)) values.what = t(fault)
    const drift = `nodes.drift.kinds.${String(params.found)}`
    if (isText(drift)) values.found = t(drift, { n: Number(params.count) })
    if (entry.kind === 'log.gathered') values.what = gathered(entry)
    if (entry.room !== '' && !params.room) values.room = entry.room
    values.fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].slice(0, 3).join(', ')
    values.subject = subjectText(entry.subject)
    return values
  }

  /** Translates an error message. */
  function errorText(kind: string, error: string): string {
    if (kind.startsWith('node.')) return nodeSentence(error, t)
    return kind.startsWith('database.') ? awayReason(error) : storedSentence(error, t)
  }

  /** Describes what of a device is missing; an entry of a newer controller by the codec. */
  function shortText(params: MarkedEvent['params']): string {
    const one = shortcoming.safeParse(params)
    return one.success ? shortcomingText(one.data, t) : String(params.detail)
  }

  /** Describes the kind of repeated events. */
  function gathered({ params, subject }: MarkedEvent): string {
    const key = `eventLog.kinds.${String(params.kind)}`
    const blank = { room: '…', id: '…', operation: '…', stayed: '…', reason: '…', error: '…', found: '…' }
    return isText(key)
      ? t(key, { ...blank, subject: subject.id === '' ? '…' : subjectText(subject) })
      : String(params.kind)
  }

  return { sentence, subjectText, actorText }
}

/** Pattern of the store's notice about a database that refuses changes, with the reason. */
const refusedByDatabase = /^The database does not take the \w+ \((.+)\)\./

/** Key of a notice of the store. */
function noticeKey(message: string): string {
  const kinds = 'eventLog.kinds.store'
  if (refusedByDatabase.test(message)) return `${kinds}.databaseRefuses`
  if (message.startsWith('The database takes changes again')) return `${kinds}.databaseTakes`
  return /^The database\b/.test(message) ? `${kinds}.ofDatabase` : `${kinds}.noticed`
}

/** Key of an entry: some kinds have more than one. */
function keyOf({ kind, params }: MarkedEvent): string {
  const kinds = 'eventLog.kinds'
  if (kind === 'site.changed') return `eventLog.changes.${String(params.procedure)}`
  if (kind === 'link.used') return `${kinds}.link.used.${String(params.link)}`
  if (kind === 'guesses.refused') return `${kinds}.guesses.${String(params.guess)}`
  if (kind === 'signIn.refused') {
    const which = params.blocked === true ? 'blocked' : 'refused'
    return `${kinds}.signIn.${which}${params.account === undefined ? '' : 'For'}`
  }
  if (kind === 'controller.started' && params.last_seen !== undefined) return `${kinds}.controller.startedAfter`
  if (kind === 'log.recovered' && params.fault === '') return `${kinds}.log.torn`
  if ((kind === 'node.online' || kind === 'device.joined') && params.away_ms !== undefined)
    return `${kinds}.${kind}Again`
  if (kind === 'store.noticed') return noticeKey(String(params.message))
  if (kind === 'leader.changed' && params.why !== '') return `${kinds}.leader.changedFor.${String(params.why)}`
  return `${kinds}.${kind}`
}

/** Path of a subject's page; empty: none. */
export function pageOf({ type, id }: Pick<EventSubject, 'type' | 'id'>): string {
  const name = encodeURIComponent(id)
  switch (type) {
    case 'room':
      return `/rooms/${name}`
    case 'device':
      return `/devices/${name}`
    case 'node':
      return `/nodes/${name}`
    case 'controller':
      return '/controllers'
    case 'credential':
      return `/credentials/${name}`
    case 'licence':
      return '/settings/licence'
    case 'settings':
      return '/settings'
    case 'backup':
      return '/settings/data'
    case 'lab':
      return '/lab'
    default:
      return ''
  }
}
