import type { EventEntry, EventFields } from '../../../shared/domain/events.ts'
import { recordFields, type RecordKind } from '../../../shared/domain/record-fields.ts'
import { wallArrangement } from '../../../shared/domain/wall-layout.ts'
import { useFormat } from '../composables/useFormat.ts'
import { useText } from '../i18n/text.ts'
import { useFieldText } from './useFieldText.ts'

/** A changed field of an event, as text. */
interface ShownChange {
  path: string
  label: string
  before: string
  after: string
  text: string
}

/** Form fields by their different names in the event log. */
const fieldNames: Readonly<Record<string, string>> = {
  recording: 'rule',
  'options.login_name': 'login_name',
  'options.assist_address': 'assist_address',
  'options.old_tls': 'old_tls',
}
/** Placeholder of a secret in the event log. */
const hiddenValue = '[redacted]'
/** Maximum number of changes in the sentence of an event. */
const maxShown = 3

type Changed = Pick<EventEntry, 'subject' | 'before' | 'after'>

/** Describes changes of an event: `Topic: “A” → “B”`. */
export function useChangeTexts() {
  const { t } = useText()
  const { span } = useFormat()
  const { fieldLabel, fieldValue } = useFieldText()

  function changesOf({ subject, before = {}, after = {} }: Changed): ShownChange[] {
    const kind = isKind(subject.type) ? subject.type : undefined
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].map((path) => shown(kind, path, before, after))
  }

  function shown(kind: RecordKind | undefined, path: string, before: EventFields, after: EventFields): ShownChange {
    if (kind === 'wall' && (path === 'layout' || path === 'rotate_s')) return layoutChange(path, before, after)
    const [field, rest] = kind === undefined ? ['', path] : fieldAt(kind, path)
    const name = kind === undefined || field === '' ? path : fieldLabel(kind, field)
    const label = field === '' || rest === '' ? name : t('edits.part', { field: name, part: rest })
    const value = (all: EventFields): string => {
      const one = all[path]
      if (one === undefined || one === null || one === '') return t('edits.none')
      return kind === undefined || rest !== '' ? String(one) : fieldValue(kind, field, one)
    }
    const [old, young] = [value(before), value(after)]
    const isSecret = before[path] === hiddenValue || after[path] === hiddenValue
    const text = isSecret
      ? t('edits.secretChanged', { field: label })
      : t('edits.change', { field: label, before: quoted(before[path], old), after: quoted(after[path], young) })
    return { path, label, before: old, after: young, text }
  }

  /** Returns a change of a wall's layout or rotation, which share one field of the form. */
  function layoutChange(path: 'layout' | 'rotate_s', before: EventFields, after: EventFields): ShownChange {
    const field = t(path === 'layout' ? 'wall.options.layout' : 'wall.options.rotation')
    const value = ({ [path]: one }: EventFields): string => {
      const layout = wallArrangement.shape.layout.safeParse(one)
      if (path === 'layout') return layout.success ? t(`wall.layouts.${layout.data}`) : t('edits.none')
      if (typeof one !== 'number') return t('edits.none')
      return one === 0 ? t('wall.options.noRotation') : t('wall.options.every', { span: span(one * 1_000) })
    }
    const [old, young] = [value(before), value(after)]
    const text = t('edits.change', { field, before: old, after: young })
    return { path, label: field, before: old, after: young, text }
  }

  /** Quotes a text, so that blanks at its ends are visible. */
  function quoted(value: EventFields[string] | undefined, text: string): string {
    return typeof value === 'string' && value !== '' ? t('edits.quoted', { text }) : text
  }

  /** Returns all changes in one line; empty: the record was created or deleted, or nothing changed. */
  function changeSentence(entry: Changed): string {
    if (entry.before === undefined || entry.after === undefined) return ''
    if (Object.keys(entry.before).length === 0 || Object.keys(entry.after).length === 0) return ''
    // A field without a label is in no form; the sentence of the event describes it.
    const texts = changesOf(entry)
      .filter(({ path, label }) => !isKind(entry.subject.type) || label !== path)
      .map(({ text }) => text)
    return [...texts.slice(0, maxShown), ...(texts.length > maxShown ? ['…'] : [])].join(t('edits.separator'))
  }

  return { changesOf, changeSentence }
}

function isKind(type: string): type is RecordKind {
  return Object.hasOwn(recordFields, type)
}

/** Returns the field to which a path belongs, and the rest of the path; an empty field: none. */
function fieldAt(kind: RecordKind, path: string): [field: string, rest: string] {
  const fields: readonly string[] = recordFields[kind]
  const parts = path.split('.')
  for (let count = parts.length; count > 0; count--) {
    const name = parts.slice(0, count).join('.')
    const field = fieldNames[name] ?? name
    if (fields.includes(field)) return [field, parts.slice(count).join('.')]
  }
  return ['', path]
}
