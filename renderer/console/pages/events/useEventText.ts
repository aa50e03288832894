import { useI18n } from 'vue-i18n'
import { awayReason } from '../../../../shared/away-reason.ts'
import { refusedByDatabase, sentenceName } from '../../../../shared/console/event-sentences.ts'
import { eventValues, isLabelled, recordField } from '../../../../shared/domain/event-values.ts'
import {
  type EventEntry,
  type EventFields,
  type EventKind,
  type EventSubject,
  logFaults,
  type SubjectType,
} from '../../../../shared/domain/events.ts'
import type { MarkedEvent } from '../../../../shared/console/marks.ts'
import { roleNames } from '../../../../shared/domain/roles.ts'
import { deviceErrorKinds } from '../../../../shared/device.ts'
import { shortcoming } from '../../../../shared/media/transcoding.ts'
import { nodeSentence, storedSentence } from '../nodes/nodeSentences.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useOperatorText } from '../../composables/useOperatorText.ts'
import { useText } from '../../i18n/text.ts'
import { shortcomingText } from '../devices/tracks.ts'
import { driftKinds } from '../../../../shared/domain/nodes.ts'
import { exportFailureNames } from '../../../../shared/domain/recording-exports.ts'

/** Placeholder values of a sentence that is shown without an event. */
const blank = Object.fromEntries(
  'away bucket code count error folder found from id label last_seen made_by message operation reason room seconds segments stayed stream to url user version what'
    .split(' ')
    .map((name) => [name, '…']),
)

const listeners = ['media', 'device', 'node', 'console', 'event'] as const

/** Translates events for the operator. */
export function useEventText() {
  const { t } = useText()
  const { t: translate, te } = useI18n({ useScope: 'global' })
  const { span, date, list, number, size } = useFormat()
  const operatorText = useOperatorText()

  function subjectText({ type, id, name }: EventSubject): string {
    if (type === 'listener') {
      const listener = listeners.find((one) => one === id)
      return listener === undefined ? id : t(`overview.state.${listener}`)
    }
    if (type === 'settings' || type === 'licence') return t(`eventLog.types.${type}`)
    return name || id || t(`eventLog.types.${type}`)
  }

  function actorText({ actor }: Pick<EventEntry, 'actor'>): string {
    if (actor.type === 'siteFile') return t('eventLog.actors.siteFile')
    if (actor.type === 'host') return t('eventLog.actors.host', { name: actor.name })
    if (actor.type === 'system' || actor.type === 'holder') return t(`eventLog.actors.${actor.type}`)
    return operatorText(actor.name) || t('eventLog.actors.stranger')
  }

  function sentence(entry: MarkedEvent): string {
    return t(`eventLog.${sentenceName(entry)}`, valuesOf(entry))
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
    const reason = deviceErrorKinds.find((one) => one === params.reason)
    if (reason !== undefined) values.reason = t(`devices.short.${reason}`)
    if (entry.kind === 'device.short' || entry.kind === 'person.short') values.reason = shortText(params)
    const failure = exportFailureNames.find((one) => one === params.reason)
    if (entry.kind === 'recording.exportFailed' && failure !== undefined)
      values.reason = t(`playback.exports.failures.${failure}`)
    if (typeof params.made_by === 'string') values.made_by = operatorText(params.made_by)
    const fault = logFaults.find((one) => one === params.fault)
    if (fault !== undefined) values.what = t(`eventLog.check.faults.${fault}`)
    const drift = driftKinds.find((one) => one === params.found)
    if (drift !== undefined) values.found = t(`nodes.drift.kinds.${drift}`, { n: Number(params.count) })
    if (entry.kind === 'log.gathered') values.what = gathered(entry)
    if (entry.room !== '' && !params.room) values.room = entry.room
    const paths = [...Object.keys(before), ...Object.keys(after)]
    const labels = new Set(paths.map((path) => fieldLabel(entry.subject.type, path)).filter((label) => label !== ''))
    values.fields = list([...labels].slice(0, 3))
    values.subject = subjectText(entry.subject)
    return values
  }

  function errorText(kind: string, error: string): string {
    if (kind.startsWith('node.')) return nodeSentence(error, t)
    return kind.startsWith('database.') ? awayReason(error) : storedSentence(error, t)
  }

  /** Describes a shortcoming of a device's media; an unknown one of a newer controller by its codec. */
  function shortText(params: MarkedEvent['params']): string {
    const one = shortcoming.safeParse(params)
    return one.success ? shortcomingText(one.data, t) : String(params.detail)
  }

  /** Describes a kind of repeated events. */
  function gathered({ params, subject }: MarkedEvent): string {
    const name = sentenceName({ kind: params.kind as EventKind, params: {} })
    return t(`eventLog.${name}`, { ...blank, subject: subject.id === '' ? '…' : subjectText(subject) })
  }

  /** Returns the sentence of a kind without values; empty: the kind has several sentences. */
  function kindText(kind: EventKind): string {
    const name = sentenceName({ kind, params: {} })
    return name === `kinds.${kind}` ? t(`eventLog.${name}`, { ...blank, subject: '…' }) : ''
  }

  /** Returns the label of a changed field; empty: the field is internal. */
  function fieldLabel(type: SubjectType, path: string): string {
    if (type === 'settings') {
      const key = `settings.fields.${path.replace(/\.\d+(\..*)?$/, '')}.label`
      return te(key) ? translate(key) : t('eventLog.types.settings')
    }
    const field = recordField(path)
    return field === undefined ? '' : t(`eventLog.fields.${field}`)
  }

  function valueText(name: string, value: EventFields[string] | undefined): string {
    if (value === undefined || value === null || value === '') return '–'
    if (typeof value === 'boolean') return t(value ? 'words.yes' : 'words.no')
    if (typeof value === 'string') return name === 'role' ? roleText(value) : value
    const shown = isLabelled(name) ? eventValues[name] : undefined
    if (shown === 'span' || name.endsWith('_ms')) return span(value)
    if (shown === 'time') return date(value)
    return shown === 'size' ? size(value) : number(value)
  }

  function roleText(role: string): string {
    const one = roleNames.find((known) => known === role)
    return one === undefined ? t(role === 'host' ? 'media.link.host' : 'media.link.member') : t(`accounts.roles.${one}`)
  }

  /** Returns labelled values of an event, which its sentence may not contain. */
  function details({ params }: MarkedEvent): { name: string; value: string }[] {
    return Object.entries(params).flatMap(([name, value]) =>
      isLabelled(name) && value !== '' ? [{ name: t(`eventLog.values.${name}`), value: valueText(name, value) }] : [],
    )
  }

  return { sentence, kindText, subjectText, actorText, fieldLabel, valueText, details }
}
